/** Queue pairs against rdma-core's programs; more of them in pingpong.long.test.ts. */
import { testGame } from './support/pingpong.ts'
import { rc, srq } from './support/pingpong-games.ts'

testGame(rc, 'ours')
testGame(srq, 'theirs')
