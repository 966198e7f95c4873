/**
 * The conformance suite on rxe0, the second end in a process of its own. The kernel carries the messages in any case,
 * so this adds little to what one process shows, and minutes in an emulated guest: it runs where it is asked for.
 */
import { test } from 'node:test'
import { expectConformance } from '../support/conformance.ts'

const skip = process.env['AETHER_RDMA_WHOLE'] === '1' ? false : 'takes minutes more; AETHER_RDMA_WHOLE=1 runs it'

test('ibverbs conforms on rxe0, both ends in two processes', { skip }, () => expectConformance('two-processes'))
