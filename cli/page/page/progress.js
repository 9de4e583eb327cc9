// Progress over the chapters.

function markOf({name, status}, current) {
  const text = `${name}: ${WORDS[status]}`;
  const attributes = {class: status, title: text};
  if (name === current) attributes["aria-current"] = "true";
  return make("li", attributes, make("span", {"aria-hidden": "true"}, MARKS[status]),
    make("span", {class: "unseen"}, text));
}

function showProgress({progress, exercise}) {
  const all = progress.flatMap(({exercises}) => exercises);
  const passed = (list) => list.filter(({status}) => status === "pass").length;
  byId("passed").textContent = `${passed(all)} of ${all.length} exercises pass`;
  byId("bar").max = all.length;
  byId("bar").value = passed(all);
  byId("progress").replaceChildren(...progress.map(({number, title, exercises}) => make(
    "li", {},
    `${number} ${title}: ${passed(exercises)} of ${exercises.length}`,
    make("ul", {}, ...exercises.map((each) => markOf(each, exercise.name))))));
}
