// Uses the pages of `cotree html` as a reader does, and leaves what they do for the test.
(async () => {
  await until(shown);
  const answers = {};
  const section = all('.rows').find((section) => text('h2', section) === 'Functions');
  // The search narrows, and sorting turns.
  const search = section.querySelector('input');
  search.value = 'luav_EXEC';
  search.dispatchEvent(new Event('input'));
  answers.found = all('tbody tr', section).map((row) => text('.name', row));
  const page = section.querySelector('.name a').hash;
  await go(page);
  await until(() => document.querySelector('.graph .node'));
  button('Unfold loops').click();
  answers.unfolded = all('.graph .node').length;
  button('Fold loops').click();
  answers.folded = all('.graph .node').length;
  document.querySelector('.graph .folded').dispatchEvent(new MouseEvent('click'));
  answers.opened = all('.graph .node').length;
  const box = document.querySelector('.graph').getAttribute('viewBox');
  button('+').click();
  answers.zoomed = document.querySelector('.graph').getAttribute('viewBox') !== box;
  // Over the place to the source, and back again.
  await go(document.querySelector('.facts a').hash);
  answers.here = (await until(() => document.querySelector('.lines .here'))) !== null;
  await go('#/flame');
  const execute = all('.boxes .box').find((box) => text('title', box).startsWith('luaV_execute:'));
  execute.dispatchEvent(new MouseEvent('click'));
  const width = (box) => Number(box.querySelector('rect').getAttribute('width'));
  answers.widest = all('.boxes .box').filter((box) => width(box) > 1599).length;
  history.back();
  await until(() => shown() !== '#/flame');
  history.back();
  await until(() => shown() === page);
  await go('#/file/999999');
  answers.refused = text('[role=alert]');
  answer(answers);
})();
