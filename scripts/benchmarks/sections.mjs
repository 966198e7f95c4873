/**
 * What `docs/benchmarks.md` has measured: of each section the commands, and the tables that are made of what they
 * print.
 */
import { formatBytes, formatCount, formatRate, formatTime } from '../../dist/src/cli/output/units.js'
import { markdown, pivot } from './pivot.mjs'

const time = (ns) => (ns === null ? '' : formatTime(ns / 1e6))
const ofLength = { column: ({ bytes }) => formatBytes(bytes), rank: ({ bytes }) => bytes }
const workOf = ({ op, provider }) => `${op}, ${provider}`
const p50 = ({ p50Ns, opsPerSec }) => (p50Ns === null ? `${time(1e9 / opsPerSec)} (mean)` : time(p50Ns))
const both = ({ p50Ns, p99Ns, opsPerSec }) =>
  p50Ns === null ? `${time(1e9 / opsPerSec)} (mean)` : `${time(p50Ns)} / ${time(p99Ns)}`
const sizes = '8,4096,65536,1048576'
/** Of each round. JSON has null where perftest said no figure. */
const figures = (rounds, unit) =>
  rounds
    .map((figure) => (figure === null ? 'none' : `${Number(figure.toPrecision(3)).toLocaleString('en')} ${unit}`))
    .join(', ')
const inBrackets = (ratio) => (ratio === null ? '' : ` (${ratio.toFixed(2)})`)

/** Of several runs of `bench spaces` the rows, with the median of each time and ratio. */
function middleOf(runs) {
  const middle = (figures) => figures.toSorted((one, other) => one - other)[figures.length >> 1]
  return runs[0].map((row) => {
    const isSame = (other) => ['op', 'store', 'place'].every((name) => other[name] === row[name])
    const same = runs.flatMap((run) => run.filter(isSame))
    return {
      ...row,
      ns: row.quantilesNs.map((_, share) => middle(same.map(({ quantilesNs }) => quantilesNs[share]))),
      ratio: row.ratio === null ? null : middle(same.map(({ ratio }) => ratio)),
    }
  })
}

const oneWay = /^(rdma|body)-/

/**
 * `name` is that of the place in the document; `commands` are words after `aether`, and each with `--json`, or a
 * script. `tables` is given the rows of each.
 */
export const sections = [
  {
    name: 'latency',
    commands: [['bench', 'latency', '--sizes', sizes]],
    tables: ([rows]) => [pivot(rows, { title: 'p50 / p99', line: workOf, ...ofLength, cell: both })],
  },
  {
    name: 'bandwidth',
    commands: [['bench', 'bandwidth', '--sizes', sizes]],
    tables: ([rows]) => [
      pivot(rows, {
        title: 'bytes and operations per second',
        line: workOf,
        ...ofLength,
        cell: ({ gbPerSec, opsPerSec }) => `${gbPerSec.toFixed(2)} GB/s, ${formatRate(opsPerSec)}`,
      }),
    ],
  },
  {
    name: 'messaging',
    commands: [['bench', 'messaging', '--sizes', sizes]],
    tables([rows]) {
      const isStream = ({ op }) => op.includes('stream')
      return [
        pivot(
          rows.filter((row) => !isStream(row) && row.op !== 'memcpy'),
          { title: 'one way, p50 / p99', line: workOf, ...ofLength, cell: both },
        ),
        pivot(
          rows.filter((row) => isStream(row) || row.op === 'memcpy'),
          {
            title: 'back to back',
            line: workOf,
            ...ofLength,
            cell: ({ opsPerSec, gbPerSec }) => `${formatRate(opsPerSec)}, ${gbPerSec.toFixed(2)} GB/s`,
          },
        ),
      ]
    },
  },
  {
    name: 'waiting',
    commands: [
      ['bench', 'rpc', '--loads', '0,1,2,4', '--clients', '1,2,4,7'],
      ['bench', 'messaging', '--loads', '0,1,2,4'],
    ],
    tables(found) {
      const ratio = (value) => value.toFixed(2)
      const cell = (row) =>
        [
          `${time(row.p50Ns)} (${ratio(row.p50Ratio)})`,
          `${time(row.meanNs)} (${ratio(row.meanRatio)})`,
          `${time(row.p99Ns)} (${ratio(row.p99Ratio)})`,
          `${formatRate(row.opsPerSec)} (${ratio(row.rateRatio)})`,
        ].join(', ')
      return [
        pivot(
          found.flat().filter(({ baseline }) => baseline !== null),
          {
            title: 'p50, mean, p99, rate',
            line: ({ op }) => op,
            column: ({ busy }) => `${busy} busy`,
            rank: ({ busy }) => busy,
            cell,
          },
        ),
      ]
    },
  },
  {
    name: 'rpc',
    commands: [['bench', 'rpc', '--sizes', `32,${sizes.slice(2)}`, '--time-ms', '1500']],
    tables([rows]) {
      const calls = rows.filter(({ op, provider }) => !oneWay.test(op) && provider !== 'memory')
      const least = Math.min(...calls.map(({ bytes }) => bytes))
      const few = calls.filter(({ op, bytes }) => bytes === least || op.startsWith('object'))
      const table = (wanted, title, cell) => pivot(wanted, { title, line: workOf, ...ofLength, cell })
      const ofOp = (row) => row.op
      return [
        pivot(few, {
          title: `${least} bytes: p50, calls per second`,
          line: ofOp,
          column: ({ provider }) => provider,
          cell: (row) => `${p50(row)}, ${formatRate(row.opsPerSec)}`,
        }),
        table(
          calls.filter(({ op }) => ['call-sync', 'call-1', 'send-return', 'write-return'].includes(op)),
          'round trip, p50 / p99',
          both,
        ),
        table(
          rows.filter(({ op, provider }) => oneWay.test(op) || provider === 'memory'),
          'one way, p50',
          p50,
        ),
      ]
    },
  },
  {
    name: 'ops',
    commands: [['bench', 'ops']],
    tables: ([rows]) => [
      pivot(rows, {
        title: '64 bytes, all processes together',
        line: ({ op }) => op,
        column: ({ provider }) => provider,
        cell: ({ opsPerSec }) => formatRate(opsPerSec),
      }),
    ],
  },
  {
    name: 'collectives',
    commands: [['bench', 'collectives', '--processes', '2,4', '--value-sizes', '64,4096,262144', '--cell-ms', '50']],
    tables: ([rows]) => [
      pivot(
        rows.filter(({ chosen }) => chosen === 'default' || chosen === 'both'),
        {
          title: 'p50, and the chosen algorithm',
          line: ({ op }) => op,
          column: ({ op, processes, bytes }) =>
            op === 'barrier' ? `${processes} processes` : `${processes}, ${formatBytes(bytes)}`,
          cell: ({ algorithm, p50Ns }) => `${time(p50Ns)}, ${algorithm}`,
        },
      ),
    ],
  },
  {
    name: 'dsm',
    commands: [['bench', 'dsm', '--ranks', '2', '--page-sizes', '4096']],
    tables([rows]) {
      const isGrid = ({ op }) => op.includes('shared,')
      const table = (wanted, title) =>
        pivot(wanted, { title, line: ({ op }) => op, column: ({ coherence }) => coherence, cell: both })
      return [
        table(
          rows.filter((row) => !isGrid(row)),
          'p50 / p99',
        ),
        table(rows.filter(isGrid), 'one access, p50 / p99'),
      ]
    },
  },
  {
    name: 'scaling',
    commands: [['bench', 'scaling', '--nodes', '2,16,128,1024']],
    tables: ([rows]) => [
      pivot(rows, {
        title: 'messages; delays',
        line: ({ protocol, miss }) => `${protocol}: ${miss}`,
        column: ({ ranks }) => `${ranks} nodes`,
        cell: ({ messages, hops }) => `${formatCount(messages)}; ${hops}`,
      }),
    ],
  },
  {
    name: 'structures',
    commands: [['bench', 'structures', '--processes', '1,2,4']],
    tables: ([rows]) => [
      pivot(rows, {
        title: 'p50, operations per second',
        line: ({ op, bytes, processes }) =>
          `${op}, ${formatBytes(bytes)}, ${processes} ${processes === 1 ? 'process' : 'processes'}`,
        column: ({ store }) => store,
        cell: ({ p50Ns, opsPerSec }) => `${time(p50Ns)}, ${formatRate(opsPerSec)}`,
      }),
    ],
  },
  {
    name: 'spaces',
    commands: Array(3).fill(['bench', 'spaces']),
    tables: (runs) => [
      pivot(middleOf(runs), {
        title: 'p50 / p99 / p99.9 (ratio)',
        line: ({ store, place }) => `${store}, ${place}`,
        column: ({ op, bytes }) => (op === 'open' ? `open ${formatBytes(bytes)}` : op),
        cell: ({ op, ns, ratio }) =>
          op === 'open' ? time(ns[3]) : [3, 7, 8].map((share) => time(ns[share])).join(' / ') + inBrackets(ratio),
      }),
    ],
  },
  {
    name: 'arrays',
    commands: [['bench', 'arrays', '--elements', '1000,1000000', '--threads', '1']],
    tables: ([rows]) => [
      pivot(
        rows.filter(({ ranks }) => ranks === 0),
        {
          title: 'p50 / p99 (ratio)',
          line: ({ op, threads }) => `${op}, ${threads}`,
          column: ({ provider, elements }) => `${provider}, ${formatCount(elements)}`,
          cell: (row) => both(row) + inBrackets(row.ratio),
        },
      ),
      pivot(
        rows.filter(({ ranks }) => ranks > 0),
        {
          title: 'p50, moved / needed',
          line: ({ op, elements }) => `${op}, ${formatCount(elements)}`,
          column: ({ ranks }) => `${ranks} ${ranks === 1 ? 'rank' : 'ranks'}`,
          cell: ({ p50Ns, movedBytes, neededBytes }) =>
            time(p50Ns) + (neededBytes ? `, ${formatBytes(movedBytes)} / ${formatBytes(neededBytes)}` : ''),
        },
      ),
    ],
  },
  {
    name: 'index',
    commands: [
      [
        ...['bench', 'index', '--sections', 'single,ycsb,replicated,recovery,restart,memory'],
        ...['--time-ms', '300', '--keys', '1000000', '--kills', '5', '--restart-mib', '64'],
      ],
    ],
    tables: ([rows]) => {
      const of = (pattern) => rows.filter(({ op }) => pattern.test(op))
      const clientsOf = ({ clients }) => `${clients} ${clients === 1 ? 'client' : 'clients'}`
      const pivoted = (some, cell) =>
        pivot(some, {
          title: 'p50 / p99 (ratio)',
          line: ({ op, provider, bytes }) => `${op}, ${formatBytes(bytes)}, ${provider}`,
          column: clientsOf,
          rank: ({ clients }) => clients,
          cell,
        })
      const timed = (row) => both(row) + inBrackets(row.ratio)
      return [
        pivoted(of(/^(get|set|increment|hash get|range 100)$/), timed),
        pivoted(of(/^ycsb-/), (row) => `${timed(row)}, ${formatRate(row.opsPerSec)}`),
        pivoted(of(/^set-/), (row) => `${timed(row)}, ${formatRate(row.opsPerSec)}`),
        pivot(of(/^recovery/), {
          title: 'leaders killed',
          line: ({ provider }) => provider,
          column: () => 'p50 / longest',
          cell: ({ p50Ns, maxNs }) => `${time(p50Ns)} / ${time(maxNs)}`,
        }),
        pivot(of(/^restart/), {
          title: 'until the first answer',
          line: ({ op, bytes }) => `${op}, ${formatBytes(bytes)}`,
          column: ({ provider }) => provider,
          cell: p50,
        }),
        pivot(of(/^memory/), {
          title: 'memory of a key (ratio)',
          line: ({ bytes }) => formatBytes(bytes),
          column: ({ provider }) => provider,
          cell: ({ keyBytes, ratio }) => formatBytes(keyBytes) + inBrackets(ratio),
        }),
      ]
    },
  },
  {
    name: 'resp',
    commands: [['bench', 'index', '--sections', 'resp', '--time-ms', '1000']],
    tables: ([rows]) => [
      pivot(
        rows.filter(({ p50Ns }) => p50Ns !== null),
        {
          title: 'p50 / p99, commands (ratio)',
          line: ({ op, clients }) => `${op}, ${clients} ${clients === 1 ? 'connection' : 'connections'}`,
          column: ({ provider }) => provider,
          cell: ({ op, clients, provider, ...row }) => {
            const ours = rows.find((each) => each.op === op && each.clients === clients && each.provider === 'aether')
            const share = provider.startsWith('Redis') ? ours.opsPerSec / row.opsPerSec : null
            return `${both(row)}, ${formatRate(row.opsPerSec)}${inBrackets(share)}`
          },
        },
      ),
    ],
  },
  { name: 'overhead', commands: [['scripts/measure-overhead.mjs']] },
  {
    name: 'soft-roce',
    isGuest: true,
    commands: [
      [
        ...['bench', 'rpc', '--device', 'rxe0', '--sizes', '32', '--depths', '1', '--clients', '1'],
        ...['--peers', 'none', '--time-ms', '25000'],
      ],
    ],
    tables: ([calls]) => [
      markdown(
        ['32 bytes', 'p50 / p99', 'p50 over `send-return`'],
        calls
          .filter(({ provider }) => provider === 'ibverbs')
          .map((row) => [row.op, both(row), row.baseline === 'send-return, ibverbs' ? row.ratio.toFixed(2) : '']),
      ),
    ],
  },
  {
    name: 'perftest',
    isGuest: true,
    commands: [['scripts/compare-perftest.mjs', '--json']],
    tables: ([pairs]) => [
      markdown(
        ['perftest', 'aether', 'length', 'perftest', 'aether', 'aether over perftest'],
        pairs.map(({ tool, op, bytes, unit, perftest, aether, ratio }) => [
          ...[tool, op, formatBytes(bytes), figures(perftest, unit), figures(aether, unit)],
          ratio === null ? 'none' : ratio.toFixed(2),
        ]),
      ),
    ],
  },
]
