import process from 'node:process'
import test from 'node:test'
import { killOneOfFour } from './kill-one.ts'

const skip = process.platform === 'linux' ? false : 'shared memory needs Linux'

test(
  'processes: blocking collectives; then one is killed in a collective, the others are told which, and go on without it',
  {
    skip,
  },
  (t) => killOneOfFour(t, 'shm0', '127.0.0.1'),
)
