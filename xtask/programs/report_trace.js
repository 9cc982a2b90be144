// Goes through the trace of a program as a reader does, and leaves what it says for the test.
(async () => {
  const now = () => ({
    block: Number(
      text('.moment')
        .match(/^Block ([\d,]+) of/)?.[1]
        .replaceAll(',', ''),
    ),
    place: text('.moments h2 a'),
    stack: all('.stack li').map((frame) => frame.textContent.trim()),
    // A place by a line of the source, and that line is marked.
    marked: document.querySelector('.excerpt .here')?.dataset.line ?? '',
  });
  const press = async (name, of) => {
    const here = document.querySelector('.steps .here');
    button(name, of).click();
    await until(
      () => text('.tracing [role=status]') !== 'Searching …' && document.querySelector('.steps .here') !== here,
    );
    return now();
  };
  await until(shown);
  const answers = {};
  const [file, line] = WANTED.split(':');
  const link = all('a[href^="#/file/"]').find((link) => link.textContent === file);
  location.hash = '#/trace';
  await until(() => document.querySelector('.steps .here'));
  await until(() => Number(document.querySelector('.timeline').dataset.drawn?.split(' ')[0]) > 0);
  answers.opened = now();
  answers.boxes = Number(document.querySelector('.timeline').dataset.drawn.split(' ')[0]);
  answers.start = await press('Start');
  answers.lines = [];
  for (let line = 0; line < 40; line++) answers.lines.push((await press('line →')).place);
  answers.back = [];
  for (let line = 0; line < 40; line++) answers.back.push((await press('← line')).place);
  answers.end = await press('End');
  const jumps = () => document.querySelector('.jumps');
  // When WANTED ran: the link on the page of its file leads here.
  location.hash = `#/trace/line/${link.hash.split('/')[2]}/${line}`;
  await until(() => text('.moments h2 a') === WANTED);
  answers.first = now();
  answers.second = await press('after this', jumps());
  answers.firstAgain = await press('before this', jumps());
  answers.last = await press('last', jumps());
  answers.out = await press('← out');
  const canvas = document.querySelector('.timeline');
  const drawn = canvas.dataset.drawn;
  button('Zoom in').click();
  answers.zoomed = await until(() => canvas.dataset.drawn !== drawn && canvas.dataset.drawn).then(Boolean);
  answer(answers);
})();
