/** One of the processes beside which `aether bench … --loads` measures: it computes without a pause. */
import process from 'node:process'

const parent = process.ppid
/** Between two looks whether the process that measures is still there: some milliseconds. */
const STEPS = 1 << 22
let sum = 0

process.send?.({ kind: 'computing' })
while (process.ppid === parent) for (let step = 0; step < STEPS; step += 1) sum = (sum * 31 + step) | 0
// The sum is used, so that the engine does not leave it out.
process.exit(sum & 0)
