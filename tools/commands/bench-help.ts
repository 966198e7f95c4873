import { formatBytes } from 'aether-dsm/internal/cli'
import { collectiveNames } from 'aether-dsm/internal/collectives'
import { DEFAULT_ARRAYS_TIME_MS, defaultArrayRanks, defaultElements, defaultThreads } from '../bench/arrays/arrays.ts'
import { DEFAULT_CELL_MS, DEFAULT_ITERATIONS, defaultDsmRanks, defaultPageBytes, protocolKinds } from '../bench/dsm.ts'
import {
  DEFAULT_INDEX_KEYS,
  DEFAULT_INDEX_KILLS,
  DEFAULT_RESTART_BYTES,
  defaultIndexClients,
  defaultIndexSizes,
} from '../bench/index-service/bench-index.ts'
import { DEFAULT_INDEX_TIME_MS, indexSections } from '../bench/index-service/section.ts'
import { defaultJobsProcesses } from '../bench/jobs/jobs.ts'
import { DEFAULT_TIME_MS, defaultSizes } from '../bench/latency.ts'
import { defaultOpsProcesses, defaultOpsSizes } from '../bench/ops/ops.ts'
import { peerNames } from '../bench/peers/peer-name.ts'
import { quantileShares } from '../bench/quantiles.ts'
import { defaultRendezvousSizes } from '../bench/rendezvous.ts'
import { defaultReplicas, defaultReplicateSizes } from '../bench/replicate/replicate.ts'
import { defaultClients, defaultDepths, defaultRpcSizes } from '../bench/rpc.ts'
import { DEFAULT_SPACES_BYTES, DEFAULT_SPACES_TIME_MS } from '../bench/spaces/spaces.ts'
import { storeNames } from '../bench/structures/bench-store.ts'
import { ALL_TIME_MS, allSizes, suiteNames } from './bench-all.ts'
import { alternatedSize, alternatedTimeMs, defaultRounds } from './bench-alternated.ts'
import { deviceDefault } from './bench-options.ts'
import { defaultScalingRanks } from './bench-scaling.ts'
import { fullGrid, quickGrid } from './bench-structures.ts'

const COLUMNS_MAX = 120

/** Names on as many lines as they need, which begin in a column. */
function inLines(names: readonly string[], column: number): string {
  const lines = names.join(', ').matchAll(new RegExp(`(.{1,${COLUMNS_MAX - column - 1}})(?:, |$)`, 'g'))
  return Array.from(lines, ([, line]) => `\n${' '.repeat(column)}${line}`).join(',')
}

/** What `aether bench --help` prints. */
export const benchHelp: string = `Usage: aether bench latency [options]
       aether bench bandwidth [options]
       aether bench messaging [options]
       aether bench collectives [options]
       aether bench rpc [options]
       aether bench ops [options]
       aether bench jobs [options]
       aether bench replicate [options]
       aether bench agreement [options]
       aether bench dsm [options]
       aether bench scaling [options]
       aether bench structures [options]
       aether bench arrays [options]
       aether bench spaces [options]
       aether bench index [options]
       aether bench all [options]

latency      one operation at a time, from post to polled completion. SEND, IPC and write-seen are half of a round trip
               write-seen         a WRITE answered by a WRITE, each end watching its memory
             Compared with SEND of libfabric; over a tcp device with UCX over TCP, and with programs in C. These make
             round trips over a socket: spinning, or asleep until bytes come (blocking)
bandwidth    32 operations outstanding, with one completion for all of them. Over a tcp device compared with UCX over
             TCP, and with a program in C that writes to a socket (stream)
               write-both         WRITEs of both ends at the same time. Bytes and operations per second are of both
                                  ends, times of one end. The ratio is to one end alone (1: neither slows the other;
                                  2: no gain)
               read-both          the same with READs
messaging    endpoints
               message            half of a round trip, both ends spinning
               message-loop       half of a round trip, both ends in their event loops
               message-stream     messages one way, as fast as they are taken, both ends spinning
               stream-loop        the same, both ends in their event loops
               rendezvous         from 64 KiB: a message too long for a ring, until its receiver has fetched it and said
                                  so
               rendezvous-placed  the same from registered memory, without a copy
             Compared with bare SEND, UCX, libfabric, child_process messages, a Unix socket, a stream of gRPC, PUBLISH
             of Redis, and memcpy
collectives  every algorithm of every collective among several processes: measured, and counted in messages and bytes
rpc          calls
               call-sync          round trips of blocking calls, both ends spinning
               object-sync        the same with a small object in the default codec
               call-N             round trips from the event loop, with N calls in progress
               clients-N          the same from N client processes, with 16 calls in progress each
               send-return        a bare SEND and one back, after each call-sync. It is the baseline of call-sync
               write-return       the same with WRITEs with immediate, which carry calls
               rdma-source        from 64 KiB, one call at a time: the server reads from memory of its caller
               rdma-target        the same, but the server writes into that memory
               body-request       the same bytes in the body of a request
               body-answer        the same bytes in the body of an answer
             Compared with child_process messages, a Unix socket, unary calls of gRPC, and ECHO of Redis with as many in
             progress, and with memcpy
ops          operations per second of ${defaultOpsProcesses.join(' and ')} processes at the same time. Reads and writes of coherent memory,
             compared with GET and SET of Redis and get and put of lmdb. Elements of an array in parts. Calls of one
             server, compared with ECHO of Redis
jobs         job queues, compared with BullMQ on Redis and on shared memory
               add                add a job, one after the other
               work-N             jobs that N worker processes finish, with 8 in hand each
               start              from adding a job until its handler begins in another process, which has been idle
               start-next         the same, added as soon as the handler of the job before has begun
replicate    commands of a replicated state machine, compared with a bare WRITE, Redis with WAIT, and etcd
               one-N              one after the other, with N replicas
               many-N             with 64 under way
agreement    decisions by the algorithms of aether agreement, among real processes, compared with replicate
               NAME-N             algorithm NAME among N processes and three memories, where nothing fails
dsm          loads, stores and calls on coherent memory: some need another process, some do not
scaling      messages, bytes and message delays per miss and per barrier, from two nodes to a thousand: counted, not
             timed
structures   map, queue and counter in shared memory, compared with a Map in one process, Redis over a Unix socket, and
             lmdb
arrays       operations on arrays of float64: in one process beside NumPy, with one thread and several. Among ranks of
             one thread each, also the bytes that moved and those that have to
spaces       map, queue and counter of a space in memory, in a directory on tmpfs and in one on a disk, taking turns
               set, write-back    the same while the kernel writes the changed pages to the disk once a second
               open               a large store, from the call in a new process to its first value. The space in memory
                                  is restored from its save
             Compared with lmdb and SQLite in the same directories
index        data by key, in nodes and clients of the index service
               single             get, set, increment, a field of a hash and ranges of 100, of one node
               ycsb               the workloads A to F, with one node
               replicated         sets with three nodes, one after the other and 64 under way
               recovery           leaders of three nodes are killed, until the next write is answered
               restart            nodes are killed and begin again with their files, until the first answer
               memory             what a key takes
               resp               clients of Redis: redis-benchmark on a node and on Redis, alternately
             Compared with a map of structures, lmdb and Redis, and with two replicas of Redis and WAIT
all          all of these one after another, with short cells and few sizes: an overview that takes some minutes, as one
             JSON array and one page

latency and bandwidth measure READ, WRITE, SEND, fetch-and-add and compare-and-swap between two processes. They compare
them with memcpy and child_process messages in the same run.

Options of all benchmarks:
  --json            print the rows as one JSON array and nothing else. The fields of rows are listed below.
                    quantilesNs has the times that ${quantileShares.map((share) => Number((100 * share).toPrecision(4))).join(', ')} % of the samples do not
                    exceed
  --compare FILE    divide the median time of each row by that of an earlier run. For streams it is the mean time, for
                    scaling the messages. FILE is the --json output of that run, or of bench all. In --json the ratio is
                    "beforeRatio"
  --html FILE       also write a page with plots, each with its figures, and all rows. The page is one file and needs
                    nothing else. With --compare the plots show both runs
If a benchmark is interrupted (Ctrl-C), it writes neither. Its exit status is 128 + the number of the signal.

Options of latency, bandwidth, messaging, rpc, ops, jobs (no --device, no --sizes), replicate (no --device), agreement
(no --sizes) and all:
  --device NAME     the verbs device (default ${deviceDefault}; agreement shm0 and tcp-lo)
  --sizes N,N,...   message lengths in bytes (default ${defaultSizes.join(',')};
                    rpc ${defaultRpcSizes.join(',')}, rdma-source and rdma-target
                    ${defaultRendezvousSizes.join(',')};
                    ops ${defaultOpsSizes.join(',')}; replicate ${defaultReplicateSizes.join(',')}; all ${allSizes.join(',')})
  --time-ms N       how long each row is measured (default ${DEFAULT_TIME_MS}; all ${ALL_TIME_MS})
  --json            rows have "suite", "op", "provider", "bytes", "p50Ns", "p99Ns", "maxNs", "quantilesNs", "opsPerSec",
                    "gbPerSec", "cpuNsPerOp", "baseline", "ratio".
                    A field is null if another program does not report it. The ratio divides medians (for streams, mean
                    times of a message) by those of the row that baseline names as 'op, provider'

Options of collectives:
  --device NAME         the verbs device (default ${deviceDefault})
  --collectives LIST    all (default), or some of:${inLines(collectiveNames, 24)}
  --processes N,N,...   processes that take part (default 4,8)
  --value-sizes N,...   bytes of each rank's part, or of all parts together (default 64 to 1048576)
  --cell-ms N           how long each row is measured (default ${DEFAULT_CELL_MS})
  --json                rows have "suite", "op", "algorithm", "chosen", "processes", "bytes", "samples", "p50Ns",
                        "p99Ns", "maxNs", "quantilesNs", "cpuNsPerOp", "rounds", "messages", "sentBytes",
                        "busiestBytes"

More options of latency, messaging, rpc, ops, jobs, replicate, arrays and all:
  --peers LIST       all (default), none, or some of:${inLines(peerNames, 21)}
                     A benchmark uses the peers that have what it measures. A peer that is not installed is left out,
                     with a message

More options of rpc:
  --depths N,N,...   calls in progress at a time (default ${defaultDepths.join(',')})
  --clients N,N,...  client processes of one server (default ${defaultClients.join(',')})

More options of messaging and rpc:
  --loads N,N,...    take turns with a Unix socket, beside so many processes that compute without a pause (0: none).
                     Only message-loop, and call-N and clients-N (default 1 call, 4 clients), of ${alternatedSize} bytes unless
                     --sizes is given
  --rounds N         how often each takes its turn beside each load (default ${defaultRounds}), for --time-ms (default ${alternatedTimeMs})
  --json             with --loads, rows have "suite", "op", "provider", "bytes", "busy", "rounds", "p50Ns", "meanNs",
                     "p99Ns", "maxNs", "quantilesNs", "opsPerSec", "cpuNsPerOp", "delayNsPerOp", "sleepsPerOp",
                     "preemptionsPerOp", "baseline", "p50Ratio", "meanRatio", "p99Ratio", "rateRatio". All are medians
                     over the rounds, and ratios are taken within a round. Counts of the scheduler are null if the
                     kernel does not tell them

More options of ops, jobs, replicate and agreement:
  --processes N,N,...  processes that work at the same time (default ${defaultOpsProcesses.join(',')}; jobs ${defaultJobsProcesses.join(',')};
                       replicate ${defaultReplicas.join(',')}; agreement 3)

More options of replicate:
  --kills N          measure fail-overs instead: kill the leader N times while 8 commands are under way. A row
                     tells how long one of the stages took until the next leader had decided

More options of all:
  --suites LIST      all (default), or some of:${inLines(suiteNames, 21)}
  --json             rows are those of each benchmark

Options of dsm:
  --coherence LIST      ${protocolKinds.join(', ')}, or all (default)
  --ranks N,N,...       numbers of processes (default ${defaultDsmRanks.join(',')})
  --page-sizes N,N,...  page sizes in bytes (default ${defaultPageBytes.join(',')})
  --iterations N        how often each access is measured (default ${DEFAULT_ITERATIONS})
  --cell-ms N           how long each cell of the grid of sharing and stores is measured (default ${DEFAULT_CELL_MS}; 0: no grid)
  --spin-ms N           how long agents look for work before they sleep (default: as join() decides)
  --stages              also where the time of a page miss goes, stage by stage: two processes, from a trace
  --trace FILE          write what the processes do to FILE, for ui.perfetto.dev or chrome://tracing
  --json                rows have "suite", "op", "coherence", "ranks", "pageBytes", "samples", "p50Ns", "p99Ns",
                        "maxNs", "quantilesNs", "messages", "bytes", "hitRate", "baseline", "ratio".
                        A field is null if it was not counted. The ratio divides the median by that of the row that
                        baseline names as 'op, coherence'

Options of scaling:
  --nodes N,N,...   numbers of nodes (default ${defaultScalingRanks.join(',')})
  --json            rows have "suite", "protocol", "ranks", "miss", "messages", "bytes", "hops"

Options of structures:
  --stores LIST         ${storeNames.join(', ')} (default all). A store that is not installed is left out, with a
                        message
  --processes N,N,...   processes that work at the same time (default ${quickGrid.processes.join(',')})
  --value-sizes N,...   value sizes in bytes (default ${quickGrid.bytes.join(',')})
  --keys LIST           uniform, zipf (default ${quickGrid.keys.join(',')})
  --writes N,N,...      percentage of sets among gets and sets (default ${quickGrid.writes.join(',')})
  --full                use defaults of ${fullGrid.processes.join(',')} processes, ${fullGrid.bytes.join(',')} bytes and keys ${fullGrid.keys.join(',')}. It takes some
                        minutes; the number is printed first
  --cell-ms N           how long each operation of each cell is measured (default ${DEFAULT_CELL_MS})
  --json                rows have "suite", "op", "store", "processes", "bytes", "keys", "samples", "p50Ns", "p99Ns",
                        "maxNs", "quantilesNs", "opsPerSec", "baseline", "ratio", "peakShare".
                        The ratio divides the median by that of the shared structure's row, which baseline names.
                        The peakShare is opsPerSec divided by the best rate that any number of processes reached

Options of arrays:
  --elements N,N,...  elements of an array (default ${defaultElements.join(',')}). What memory does not hold is left out, with
                      a message. sort and fft have at most 10^7, matmul 4 x 10^6
  --ranks N,N,...     ranks that have parts of an array (default ${defaultArrayRanks.join(',')}), or none
  --threads N,N,...   threads of one process (default ${defaultThreads.join(',')}: one, and one for each processor)
  --time-ms N         how long each row is measured (default ${DEFAULT_ARRAYS_TIME_MS})
  --json              rows have "suite", "op", "provider", "elements", "ranks", "threads", "samples", "meanNs", "p50Ns",
                      "p99Ns", "maxNs", "quantilesNs", "movedBytes", "neededBytes", "baseline", "ratio". The ranks of a
                      process alone are 0. The bytes are null where nothing has parts, or where the least is not known

Options of spaces:
  --size SIZE        keys and values of each store when it is opened (default ${formatBytes(DEFAULT_SPACES_BYTES)}). Four stores at a time
                     take about twice that each: of memory in a space in memory and on tmpfs, of the disk otherwise
  --directory DIR    where the disk is (default: the directory for temporary files). What is made there is removed
  --time-ms N        how long each operation of each store is measured (default ${DEFAULT_SPACES_TIME_MS}). With write-back ten times that
  --peers LIST       lmdb, SQLite, all (default) or none. SQLite is the package better-sqlite3, or that of Node.js 22.13
  --json             rows have "suite", "op", "store", "place", "bytes", "samples", "meanNs", "p50Ns", "p99Ns", "maxNs",
                     "quantilesNs", "writtenBytes", "baseline", "ratio".
                     The ratio divides the time by that of the row that baseline names as 'op, store, place'. It is the
                     median of the ratios within a round; for open, the ratio of medians. A writtenBytes of null was
                     not told by the kernel

Options of index:
  --sections LIST    all (default), or some of:${inLines(indexSections, 21)}
  --sizes N,N,...    lengths of values in bytes (default ${defaultIndexSizes.join(',')})
  --clients N,N,...  client processes at the same time (default ${defaultIndexClients.join(',')})
  --time-ms N        how long each row is measured (default ${DEFAULT_INDEX_TIME_MS})
  --peers LIST       Redis, lmdb, all (default) or none
  --keys N           keys for memory (default ${DEFAULT_INDEX_KEYS}); ycsb has as many records, at most 10000
  --kills N          leaders that are killed for recovery (default ${DEFAULT_INDEX_KILLS})
  --restart-mib N    MiB of values for restart (default ${DEFAULT_RESTART_BYTES / 2 ** 20}). Three nodes keep them three times
  --json             rows have "suite", "op", "provider", "bytes", "clients", "samples", "meanNs", "p50Ns", "p99Ns",
                     "maxNs", "quantilesNs", "opsPerSec", "keyBytes", "baseline", "ratio". A field is null where it does
                     not apply. The ratio divides the median by that of the row that baseline names as 'op, provider',
                     of the same length and clients. Of memory it divides the bytes,
                     of overload the p99

Examples:
  aether bench latency
  aether bench latency --sizes 8,4096 --time-ms 500
  aether bench bandwidth --json > bandwidth.json
  aether bench bandwidth --compare bandwidth.json --html bandwidth.html
  aether bench messaging --sizes 8,4096
  aether bench collectives --collectives allReduce --processes 4
  aether bench rpc --sizes 8 --depths 1,64 --clients 1 --peers gRPC,Redis
  aether bench ops --processes 2 --peers none
  aether bench dsm --ranks 2 --page-sizes 4096
  aether bench dsm --json > dsm.json
  aether bench dsm --compare dsm.json --html dsm.html
  aether bench arrays --elements 1000,1000000 --ranks none
  aether bench all --html bench.html
  aether bench structures --processes 1 --stores aether,Map
  aether bench spaces --size 100MiB --directory /var/tmp
  aether bench index --sections single,ycsb --sizes 100 --clients 1`
