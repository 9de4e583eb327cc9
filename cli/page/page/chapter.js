// The chapter's text. The server's HTML is made of what cli/page/safe_html.h lists, and nothing else.

let chapterShown = "";

async function showChapter(folder) {
  if (folder === chapterShown) return;
  chapterShown = folder;
  const answer = await fetch(`chapter/${folder}`);
  if (!answer.ok || folder !== chapterShown) return;
  const text = new DOMParser().parseFromString(await answer.text(), "text/html");
  const title = text.querySelector("h2");
  byId("chapter-heading").textContent = title ? title.textContent : folder;
  if (title) title.remove();
  byId("chapter").replaceChildren(...text.body.childNodes);
  for (const code of byId("chapter").querySelectorAll('code[data-language="mermaid"]')) {
    const drawing = flowchart(code.textContent);
    if (drawing) code.parentElement.replaceWith(drawing);
  }
  document.documentElement.dataset.chapter = folder;
}

/** Links to "#chapter/NN_topic" show that chapter. */
function followLinks() {
  addEventListener("hashchange", async () => {
    const [, folder] = location.hash.match(/^#chapter\/([0-9a-z_]+)$/) || [];
    if (!folder) return;
    await showChapter(folder);
    byId("chapter-heading").focus();
    byId("chapter-section").scrollIntoView();
  });
}
