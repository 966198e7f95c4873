/** The conformance suite on rxe0, the second end in a process of its own: a file of its own, since each takes minutes in an emulated guest. */
import { test } from 'node:test'
import { expectConformance } from './support/conformance.ts'

test('ibverbs conforms on rxe0, both ends in two processes', () => expectConformance('two-processes'))
