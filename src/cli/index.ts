/** Building blocks of commands, for the commands of another package: `tools/` in the checkout. */
export { type Command, ExitCode } from './command.ts'

export { endingSignals, type Interruption, interruptible } from './interruption.ts'
export { integerOption, type ParsedArguments, parseOptions, wordOption } from './options.ts'
export { ProgressLine } from './output/progress-line.ts'
export { Screen } from './output/screen.ts'
export { type Column, formatTable } from './output/table.ts'
export { formatBytes, formatCount, formatRate, formatRatio, formatTime } from './output/units.ts'
export { withTraceFile } from './trace-file.ts'
export { UsageError } from './usage-error.ts'
export { readVersion } from './version.ts'
