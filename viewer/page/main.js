// In a frame, the page around it says what the header would.
if (window.top !== window) document.documentElement.classList.add("embedded");

// For tests and for the console.
window.rankbox = new App();
