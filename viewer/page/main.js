// The live page, which frames this one at /…/run, says what the header would.
if (window.top !== window && location.pathname.endsWith("/run"))
  document.documentElement.classList.add("embedded");

// For tests and for the console.
window.rankbox = new App();
