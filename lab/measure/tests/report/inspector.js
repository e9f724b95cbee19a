// What a reader would complain about, one line each.
const findings = [];
const seen = (element) => {
  const box = element.getBoundingClientRect();
  return box.width > 0 || box.height > 0;
};
const charts = [...document.querySelectorAll("svg.chart")];
for (const chart of charts) {
  const name = chart.getAttribute("aria-label");
  const frame = chart.getBoundingClientRect();
  if (frame.width < 300 || frame.height < 60) findings.push(`${name}: is not drawn`);
  const series = [...chart.querySelectorAll(".series, .bar")];
  if (series.length === 0) findings.push(`${name}: has no series`);
  for (const one of series) {
    const label = one.getAttribute("aria-label");
    const marks = [...one.querySelectorAll(".marker, rect")];
    if (marks.length === 0 || !marks.every(seen)) findings.push(`${name}: ${label} is not drawn`);
    const line = one.querySelector(".line");
    if (line && getComputedStyle(line).stroke === "none") findings.push(`${name}: ${label} has no colour`);
  }
  // A pixel of leading may be shared; ink may not.
  const texts = [...chart.querySelectorAll("text")].map((text) => [text.textContent, text.getBoundingClientRect()]);
  texts.forEach(([text, box], at) => {
    const outside = box.left < frame.left - 1 || box.right > frame.right + 1 || box.top < frame.top - 1 || box.bottom > frame.bottom + 1;
    if (outside) findings.push(`${name}: "${text}" stands outside`);
    for (const [other, there] of texts.slice(at + 1)) {
      const across = Math.min(box.right, there.right) - Math.max(box.left, there.left);
      const down = Math.min(box.bottom, there.bottom) - Math.max(box.top, there.top);
      if (across > 1 && down > 1) findings.push(`${name}: "${text}" and "${other}" overlap`);
    }
  });
}
if (document.documentElement.scrollWidth > window.innerWidth) findings.push("the page is wider than the window");
document.documentElement.setAttribute("data-charts", charts.length);
document.documentElement.setAttribute("data-findings", findings.join("\n"));
