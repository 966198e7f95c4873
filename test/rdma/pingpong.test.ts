/** Each type of queue pair against rdma-core's programs; more of them in pingpong.long.test.ts. */
import { testGame } from './support/pingpong.ts'
import { rc, srq, uc, ud } from './support/pingpong-games.ts'

// Who connects matters before the queue pairs are there, so it is tried with one type of them.
testGame(rc, 'ours')
testGame(rc, 'theirs')
testGame(uc, 'ours')
testGame(ud, 'theirs')
testGame(srq, 'ours')
