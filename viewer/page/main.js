// For tests and for the console.
window.rankbox = new App();
