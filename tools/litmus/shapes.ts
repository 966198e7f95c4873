import type { Shape } from './shape.ts'

const HERD = 'herdtools7, catalogue/tutorial/tests'
const ATOMIC = 'Alglave, Maranget, Tautschnig: Herding Cats, 2014, fig. 6 and sect. 4'

/** The shapes that the runner plays. */
export const shapes: readonly Shape[] = [
  {
    name: 'SB',
    describe: 'store buffering: both stores are overtaken by the loads behind them',
    source: `${HERD}/sb.litmus`,
    processes: [
      ['Wx1', 'Ry'],
      ['Wy1', 'Rx'],
    ],
    forbidden: '0:0=0 1:0=0',
  },
  {
    name: 'MP',
    describe: 'message passing: the flag is seen, the message is not',
    source: `${HERD}/mp.litmus`,
    processes: [
      ['Wx1', 'Wy1'],
      ['Ry', 'Rx'],
    ],
    forbidden: '1:0=1 1:1=0',
  },
  {
    name: 'LB',
    describe: 'load buffering: both loads see a store that comes after the other',
    source: `${HERD}/lb.litmus`,
    processes: [
      ['Rx', 'Wy1'],
      ['Ry', 'Wx1'],
    ],
    forbidden: '0:0=1 1:0=1',
  },
  {
    name: 'S',
    describe: 'the flag is seen, yet the store behind it is overwritten by the one before the flag',
    source: `${HERD}/s.litmus`,
    processes: [
      ['Wx2', 'Wy1'],
      ['Ry', 'Wx1'],
    ],
    forbidden: '1:0=1 x=2',
  },
  {
    name: 'R',
    describe: 'the last store to y is of the process that does not see x',
    source: `${HERD}/r.litmus`,
    processes: [
      ['Wx1', 'Wy1'],
      ['Wy2', 'Rx'],
    ],
    forbidden: '1:0=0 y=2',
  },
  {
    name: '2+2W',
    describe: 'the first stores of both processes are the last',
    source: `${HERD}/2+2w.litmus`,
    processes: [
      ['Wx2', 'Wy1'],
      ['Wy2', 'Wx1'],
    ],
    forbidden: 'x=2 y=2',
  },
  {
    name: 'WRC',
    describe: 'write-to-read causality: who sees the flag of one who has seen x does not see x',
    source: `${HERD}/wrc.litmus`,
    processes: [['Wx1'], ['Rx', 'Wy1'], ['Ry', 'Rx']],
    forbidden: '1:0=1 2:0=1 2:1=0',
  },
  {
    name: 'ISA2',
    describe: 'message passing through a third process loses the message',
    source: `${HERD}/isa2.litmus`,
    processes: [
      ['Wx1', 'Wy1'],
      ['Ry', 'Wz1'],
      ['Rz', 'Rx'],
    ],
    forbidden: '1:0=1 2:0=1 2:1=0',
  },
  {
    name: 'RWC',
    describe: 'read-to-write causality: a reader puts x before y, the writer of y does not see x',
    source: ATOMIC,
    processes: [['Wx1'], ['Rx', 'Ry'], ['Wy1', 'Rx']],
    forbidden: '1:0=1 1:1=0 2:0=0',
  },
  {
    name: 'IRIW',
    describe: 'two readers see two independent stores in opposite orders',
    source: `${HERD}/iriw.litmus`,
    processes: [['Wx1'], ['Rx', 'Ry'], ['Wy1'], ['Ry', 'Rx']],
    forbidden: '1:0=1 1:1=0 3:0=1 3:1=0',
  },
  {
    name: 'CoRR',
    describe: 'coherence: a later load sees an older value',
    source: `${HERD}/coRR.litmus`,
    processes: [['Wx1'], ['Rx', 'Rx']],
    forbidden: '1:0=1 1:1=0',
  },
  {
    name: 'CoWW',
    describe: 'coherence: the first of two stores of a process is the last',
    source: `${HERD}/coWW.litmus`,
    processes: [['Wx1', 'Wx2']],
    forbidden: 'x=1',
  },
  {
    name: 'CoRW1',
    describe: 'coherence: a load sees the store behind it',
    source: `${HERD}/coRW1.litmus`,
    processes: [['Rx', 'Wx1']],
    forbidden: '0:0=1',
  },
  {
    name: 'CoRW2',
    describe: "coherence: a load sees another's store, which then overwrites the store behind the load",
    source: `${HERD}/coRW2.litmus`,
    processes: [['Rx', 'Wx1'], ['Wx2']],
    forbidden: '0:0=2 x=2',
  },
  {
    name: 'CoWR',
    describe: "coherence: after its own store a process sees another's older one",
    source: `${HERD}/coWR.litmus`,
    processes: [['Wx1', 'Rx'], ['Wx2']],
    forbidden: '0:0=2 x=1',
  },
]
