// For tests, and for whoever looks into the page from a console.
window.rankbox = new App();
