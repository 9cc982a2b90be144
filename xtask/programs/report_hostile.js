// Goes through all views of the pages of hostile names, and tells what stands there that no view of ours draws.
(async () => {
  await until(shown);
  const views = [shown()];
  const answers = { names: [], titles: [], strange: [], views: 0, widest: 0 };
  const look = () => {
    answers.views++;
    const ours =
      'img, iframe, object, embed, form, base, [onerror], [onload], [onclick], [onmouseover], a[href^="javascript:"]';
    answers.strange.push(...all(ours).map((element) => element.outerHTML.slice(0, 200)));
    answers.strange.push(
      ...all('script')
        .filter((script) => !script.src.startsWith('file:'))
        .map((script) => script.outerHTML.slice(0, 200)),
    );
    answers.widest = Math.max(
      answers.widest,
      document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
  };
  look();
  answers.names = all('.rows .name').map((cell) => cell.textContent);
  const links = [...new Set(all('a[href^="#/"]').map((link) => link.hash))];
  for (const hash of links) {
    await go(hash);
    await until(() => document.querySelector('.view, .heading, .boxes, .graph'));
    look();
    answers.titles.push(text('.heading h2'), text('.heading small'));
    views.push(hash);
  }
  answers.owned = globalThis.owned === undefined && document.title.length > 0;
  answer(answers);
})();
