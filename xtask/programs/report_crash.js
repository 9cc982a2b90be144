// Follows a crash from the overview to the branch that let it happen, as docs/finding-a-crash.md does.
(async () => {
  const until = (found) =>
    new Promise((resolve) => {
      const timer = setInterval(() => {
        const what = found();
        if (what) (clearInterval(timer), resolve(what));
      }, 20);
    });
  const text = (selector) => document.querySelector(selector)?.textContent ?? '';
  const link = await until(() => document.querySelector('.notes .doubtful a'));
  const answers = { overview: link.parentElement.textContent };
  link.click();
  await until(() => document.querySelector('.steps .here'));
  answers.end = text('.moments h2 a');
  answers.said = text('.moment');
  answers.stack = [...document.querySelectorAll('.stack li a')].map((frame) => frame.textContent);
  answers.back = 0;
  while (text('.moments h2 a') !== 'ldebug.c:122' && answers.back < 100) {
    const here = document.querySelector('.steps .here');
    [...document.querySelectorAll('button')].find((button) => button.textContent === '← line').click();
    await until(() => document.querySelector('.steps .here') !== here);
    answers.back++;
  }
  answers.set = text('.moments h2 a');
  answers.branch = text('.excerpt [data-line="119"] .branches');
  document.body.dataset.answers = JSON.stringify(answers);
})();
