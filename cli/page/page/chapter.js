// The chapter's text. The server's HTML is what cli/page/safe_html.h lists, and nothing else.

let chapterShown = "";

/** The flowchart; null for what flowchart.js does not read, which stays text. */
function drawingOf(text) {
  try {
    return flowchart(text);
  } catch {
    return null;
  }
}

async function showChapter(folder) {
  if (folder === chapterShown) return;
  chapterShown = folder;
  const answer = await fetch(`chapter/${folder}`);
  if (folder !== chapterShown) return;
  if (!answer.ok) {
    chapterShown = "";  // to be tried again
    return;
  }
  const text = new DOMParser().parseFromString(await answer.text(), "text/html");
  const title = text.querySelector("h2");
  byId("chapter-heading").textContent = title ? title.textContent : folder;
  if (title) title.remove();
  byId("chapter").replaceChildren(...text.body.childNodes);
  for (const code of byId("chapter").querySelectorAll('code[data-language="mermaid"]')) {
    const drawing = drawingOf(code.textContent);
    if (drawing) code.parentElement.replaceWith(drawing);
  }
  document.documentElement.dataset.chapter = folder;
}

/** Links to "#chapter/NN_topic" show that chapter. */
function followLinks() {
  const follow = async () => {
    const [, folder] = location.hash.match(/^#chapter\/([0-9a-z_]+)$/) || [];
    if (!folder) return;
    await showChapter(folder);
    byId("chapter-heading").focus();
    byId("chapter-section").scrollIntoView();
  };
  addEventListener("hashchange", follow);
  // A save may have brought another chapter since: the address then stays the same.
  addEventListener("click", ({target}) => {
    const link = target.closest('a[href^="#chapter/"]');
    if (link && link.hash === location.hash) follow();
  });
}
