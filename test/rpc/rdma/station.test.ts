import test from 'node:test'
import { stationCases } from './station-cases.ts'

const options = process.platform === 'linux' ? {} : { skip: 'shared memory needs Linux' }

test('calls with buffers between two processes, over shared memory', options, (t) =>
  stationCases(t, 'shm0', '127.0.0.1'),
)
