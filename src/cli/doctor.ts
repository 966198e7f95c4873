import { writeFileSync } from 'node:fs'
import { type Command, ExitCode } from './command.ts'
import { examine } from './doctor/examine.ts'
import type { Finding, Level } from './doctor/finding.ts'
import { LiveMachine } from './doctor/live-machine.ts'
import { RecordingMachine } from './doctor/machine.ts'
import { parseOptions } from './options.ts'
import type { Mark } from './output/paint.ts'
import { Screen } from './output/screen.ts'

const table = {
  json: { type: 'boolean', default: false },
  record: { type: 'string' },
} as const

const help = `Usage: aether doctor [options]

Checks what shared memory and RDMA need on this machine: modules, devices, permissions, limits, memory, links,
counters, placement of processors. Each line says ok, warn or fail, and the line below it has a command that fixes
the problem. Nothing is changed.

Options:
  --json          print the findings as one JSON array and nothing else: [{ "check", "level", "text", "fix" }]
  --record FILE   also write everything that was read to FILE, as JSON, to attach to a bug report

Exit status: 1 if a line says fail, otherwise 0.

Examples:
  aether doctor
  aether doctor --json | jq '.[] | select(.level != "ok")'`

const marks: Readonly<Record<Level, Mark>> = { ok: 'green', warn: 'bold', fail: 'red' }

/** `aether doctor`. */
export const doctorCommand: Command = {
  help,
  options: table,

  async run(args) {
    const { values } = parseOptions('doctor', args, table)
    const machine = new RecordingMachine(await LiveMachine.inspect())
    const findings = examine(machine)
    if (values.record !== undefined)
      writeFileSync(values.record, `${JSON.stringify(machine.recording, undefined, 2)}\n`)
    if (values.json) process.stdout.write(`${JSON.stringify(findings, undefined, 2)}\n`)
    else show(new Screen(process.stdout), findings)
    return findings.some(({ level }) => level === 'fail') ? ExitCode.Failed : ExitCode.Done
  },
}

function show(screen: Screen, findings: readonly Finding[]): void {
  const width = Math.max(...findings.map(({ check }) => check.length))
  for (const { check, level, text, fix } of findings) {
    screen.line(`  ${screen.paint(marks[level], level.padEnd(4))}  ${check.padEnd(width)}  ${text}`)
    if (fix !== undefined) screen.line(`        ${' '.repeat(width)}  ${screen.paint('dim', `-> ${fix}`)}`)
  }
  const count = (wanted: Level): number => findings.filter(({ level }) => level === wanted).length
  screen.line()
  screen.line(`  ${count('ok')} ok, ${count('warn')} warnings, ${count('fail')} failed`)
}
