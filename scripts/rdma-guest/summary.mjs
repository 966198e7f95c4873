/** The table at the end of `npm run test:rdma`: a line per file, then what was skipped and why. */

/** Prints it; true when every boot ended well, ran something, and no test failed. */
export function printSummary(results) {
  const rows = [['guests', 'file', 'passed', 'failed', 'skipped']]
  for (const result of results) rows.push(...fileRows(result))
  console.log(`\n${formatTable(rows)}`)
  for (const { name, report } of results) printSkips(name, report)
  for (const result of results) printEnd(result)
  return results.every(isGood)
}

const isGood = ({ run, report }) =>
  run.status === 0 &&
  report !== undefined &&
  report.failed === 0 &&
  report.tests.some(({ outcome }) => outcome === 'passed')

function fileRows({ name, files, report }) {
  return files.map((file) => {
    if (report === undefined) return [name, file, '?', '?', '?']
    const tests = report.tests.filter((test) => test.file === file)
    const count = (outcome) => String(tests.filter((test) => test.outcome === outcome).length)
    return [name, file, count('passed'), count('failed'), count('skipped')]
  })
}

function formatTable(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)))
  const line = (row) =>
    row.map((cell, column) => (column < 2 ? cell.padEnd(widths[column]) : cell.padStart(widths[column])))
  return rows.map((row) => line(row).join('  ').trimEnd()).join('\n')
}

/** Tests with the same reason are told together. */
function printSkips(name, report) {
  const byReason = new Map()
  for (const { outcome, reason, name: test } of report?.tests ?? []) {
    if (outcome === 'skipped') byReason.set(reason, [...(byReason.get(reason) ?? []), test])
  }
  for (const [reason, tests] of byReason) console.log(`\nskipped (${name}): ${reason}\n  ${tests.join('\n  ')}`)
}

function printEnd({ name, report, run, seconds }) {
  if (report === undefined) console.log(`\n${name}: no report came back; exit status ${run.status}`)
  for (const { outcome, file, name: test, reason = '' } of report?.tests ?? []) {
    if (outcome === 'failed') console.log(`failed (${name}): ${file}: ${test}\n${firstLines(reason)}`)
  }
  if (run.companionEnd !== undefined)
    console.log(`${name}: the second host ended before the first: ${run.companionEnd}`)
  const verdict = isGood({ run, report }) ? 'good' : `failed, exit status ${run.status}`
  console.log(`${name}: ${verdict}, ${seconds.toFixed(0)} s with the boot`)
}

const REASON_LINES = 12

function firstLines(text) {
  const lines = text.trimEnd().split('\n')
  return lines
    .slice(0, REASON_LINES)
    .map((line) => `  ${line}`)
    .join('\n')
}
