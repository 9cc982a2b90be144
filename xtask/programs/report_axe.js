// Looks at each view of the pages, light and dark, with axe, and leaves what it finds for the test.
(async () => {
  await until(shown);
  const first = (selector) => document.querySelector(selector)?.getAttribute('href');
  const views = ['#/', first('td.name a[href^="#/function/"]'), first('td.name a[href^="#/file/"]')];
  views.push(...all('#bar nav a').map((link) => link.getAttribute('href')));
  const answers = { views: 0, found: [] };
  for (const view of views.filter(Boolean)) {
    if (shown() !== view) {
      location.hash = view;
      await until(() => shown() === view || shown()?.startsWith(`${view}/`));
    }
    if (view === '#/trace') await until(() => document.querySelector('.steps .here'));
    for (const theme of ['light', 'dark']) {
      document.documentElement.dataset.theme = theme;
      const { violations } = await axe.run(document, { preload: false, resultTypes: ['violations'] });
      for (const { id, impact, nodes } of violations) {
        if (impact === 'serious' || impact === 'critical') {
          answers.found.push(`${view} (${theme}): ${id}: ${nodes[0].html.slice(0, 200)}`);
        }
      }
    }
    answers.views++;
  }
  answer(answers);
})();
