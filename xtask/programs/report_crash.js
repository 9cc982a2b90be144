// Follows a crash from the overview to the branch that let it happen, as docs/finding-a-crash.md does.
(async () => {
  const link = await until(() => document.querySelector('.notes .doubtful a'));
  const answers = { overview: link.parentElement.textContent };
  link.click();
  await until(() => document.querySelector('.steps .here'));
  answers.end = text('.moments h2 a');
  answers.said = text('.moment');
  answers.stack = all('.stack li a').map((frame) => frame.textContent);
  answers.back = 0;
  while (text('.moments h2 a') !== 'ldebug.c:122' && answers.back < 100) {
    const here = document.querySelector('.steps .here');
    button('← line').click();
    await until(() => document.querySelector('.steps .here') !== here);
    answers.back++;
  }
  answers.set = text('.moments h2 a');
  answers.branch = text('.excerpt [data-line="119"] .branches');
  answer(answers);
})();
