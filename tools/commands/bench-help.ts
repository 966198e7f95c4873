import { collectiveNames } from 'aether-dsm/internal/messaging'
import { DEFAULT_CELL_MS, DEFAULT_ITERATIONS, defaultDsmRanks, defaultPageBytes, protocolKinds } from '../bench/dsm.ts'
import { DEFAULT_TIME_MS, defaultSizes } from '../bench/latency.ts'
import { defaultOpsProcesses, defaultOpsSizes } from '../bench/ops/ops.ts'
import { peerNames } from '../bench/peers/peer-name.ts'
import { quantileShares } from '../bench/quantiles.ts'
import { defaultRendezvousSizes } from '../bench/rendezvous.ts'
import { defaultClients, defaultDepths, defaultRpcSizes } from '../bench/rpc.ts'
import { storeNames } from '../bench/structures/bench-store.ts'
import { ALL_TIME_MS, allSizes, suiteNames } from './bench-all.ts'
import { deviceDefault } from './bench-options.ts'
import { defaultScalingRanks } from './bench-scaling.ts'
import { fullGrid, quickGrid } from './bench-structures.ts'

/** What `aether bench --help` prints. */
export const benchHelp: string = `Usage: aether bench latency [options]
       aether bench bandwidth [options]
       aether bench messaging [options]
       aether bench collectives [options]
       aether bench rpc [options]
       aether bench ops [options]
       aether bench dsm [options]
       aether bench scaling [options]
       aether bench structures [options]
       aether bench all [options]

latency      one operation at a time, from post to polled completion; SEND and IPC are half of a round trip, and so is write-seen:
             a WRITE answered by a WRITE, each end watching its memory; beside SEND of libfabric
bandwidth    32 operations outstanding, one completion for all of them; write-both and read-both are of both ends at the same time: bytes and
             operations a second of both together, times of one end, and the ratio to one end alone (1: neither is in the other's way; 2: no gain)
messaging    endpoints: half of a round trip with both ends spinning (message) and in their event loops (message-loop), and messages one way
             as fast as they are taken (message-stream, stream-loop); beside bare SEND, UCX, libfabric, child_process messages, a Unix socket,
             a stream of gRPC, PUBLISH of Redis and memcpy in the same run. From 64 KiB on also messages that are too long for a ring, each until
             its receiver has fetched it and said so (rendezvous), and the same from registered memory, without a copy first (rendezvous-placed)
collectives  every algorithm of every collective among several processes: measured, and counted in messages and bytes
rpc          calls, there and back: blocking with both ends spinning (call-sync, object-sync), from the event loop with N under way (call-N) and
             of N client processes with 16 under way each (clients-N); object is a small one in the default codec. Beside child_process
             messages, a Unix socket, unary calls of gRPC and ECHO of Redis with as many under way, memcpy, and after each call-sync a
             bare SEND and one back (send-return; the ratio of call-sync is to it) and the same with WRITEs with an immediate, by which calls
             travel (write-return). From 64 KiB on also one way, of one call at a time: the server reads from (rdma-source) or writes into
             (rdma-target) memory of its caller, beside the same bytes in the body of a request (body-request) or an answer (body-answer)
ops          what ${defaultOpsProcesses.join(' and ')} processes do a second, all at the same time: reads and writes of coherent memory, beside GET and SET of Redis and get and
             put of lmdb; calls of one server, beside ECHO of Redis
dsm          loads, stores and calls on coherent memory: those that need another process, and those that need none
scaling      messages, bytes and message delays per miss and per barrier, from two nodes to a thousand: counted, not timed
structures   map, queue and counter of shared memory, beside a Map of one process, Redis over a Unix socket, and lmdb
all          these one after the other, with short cells and few sizes: an overview of some minutes, as one array of JSON and one page

The first two measure READ, WRITE, SEND, fetch-and-add and compare-and-swap between two processes, beside memcpy and child_process messages in
the same run.

Options of all of them:
  --json            print the rows as one JSON array and nothing else; which names rows have stands below. quantilesNs are the times that
                    ${quantileShares.map((share) => Number((100 * share).toPrecision(4))).join(', ')} % of the samples do not exceed
  --compare FILE    beside each row, how many times as much (the median time; of streams the mean; of scaling messages) as in an earlier
                    run, of which FILE is the --json; there it is "beforeRatio". FILE may be that of bench all
  --html FILE       write a page with plots, too (by length, number, side by side, distributions; beside an earlier run with --compare),
                    each with its numbers, and all rows. It is one file and needs nothing else
Interrupted (Ctrl-C), it ends with 128 and the number of the signal, and writes neither.

Options of latency, bandwidth, messaging, rpc, ops and all:
  --device NAME     the verbs device (default ${deviceDefault})
  --sizes N,N,...   message lengths in bytes (default ${defaultSizes.join(',')};
                    rpc ${defaultRpcSizes.join(',')}, of rdma-source and rdma-target
                    ${defaultRendezvousSizes.join(',')};
                    ops ${defaultOpsSizes.join(',')}; all ${allSizes.join(',')})
  --time-ms N       how long each row is measured (default ${DEFAULT_TIME_MS}; all ${ALL_TIME_MS})
  --json            rows have "suite", "op", "provider", "bytes", "p50Ns", "p99Ns", "maxNs", "quantilesNs", "opsPerSec", "gbPerSec",
                    "cpuNsPerOp", "baseline", "ratio";
                    null where a program of others does not tell, or it is not read; ratio is of medians (of streams: of mean times a message),
                    over that of the row which baseline names as 'op, provider'

Options of collectives:
  --device NAME         the verbs device (default ${deviceDefault})
  --collectives LIST    ${collectiveNames.join(', ')}, or all (default)
  --processes N,N,...   that take part (default 4,8)
  --value-sizes N,...   bytes that a rank gives, or of all parts together (default 64 to 1048576)
  --cell-ms N           how long each is measured (default ${DEFAULT_CELL_MS})
  --json                rows have "suite", "op", "algorithm", "chosen", "processes", "bytes", "samples", "p50Ns", "p99Ns", "maxNs",
                        "quantilesNs", "cpuNsPerOp", "rounds", "messages", "sentBytes", "busiestBytes"

Options of latency, messaging, rpc, ops and all besides:
  --peers LIST       ${peerNames.join(', ')}, all (default) or none: a suite takes those that have what it
                     measures; one that is not installed is left out, and why is told

Options of rpc besides:
  --depths N,N,...   calls under way at a time (default ${defaultDepths.join(',')})
  --clients N,N,...  client processes of one server (default ${defaultClients.join(',')})

Options of ops besides:
  --processes N,N,...  that work at the same time (default ${defaultOpsProcesses.join(',')})

Options of all besides:
  --suites LIST      ${suiteNames.join(', ')} (default all of them)
  --json             rows are as each of them prints them

Options of dsm:
  --coherence LIST      ${protocolKinds.join(', ')}, or all (default)
  --ranks N,N,...       numbers of processes (default ${defaultDsmRanks.join(',')})
  --page-sizes N,N,...  bytes (default ${defaultPageBytes.join(',')})
  --iterations N        how often each access is measured (default ${DEFAULT_ITERATIONS})
  --cell-ms N           how long each cell of the grid of sharing and stores is measured (default ${DEFAULT_CELL_MS}; 0: no grid)
  --trace FILE          write what the processes did to FILE, for ui.perfetto.dev or chrome://tracing
  --json                rows have "suite", "op", "coherence", "ranks", "pageBytes", "samples", "p50Ns", "p99Ns", "maxNs", "quantilesNs",
                        "messages", "bytes", "hitRate", "baseline", "ratio";
                        null where it was not counted; ratio is of medians, p50Ns over that of the row that baseline names as 'op, coherence'

Options of scaling:
  --nodes N,N,...   numbers of nodes (default ${defaultScalingRanks.join(',')})
  --json            rows have "suite", "protocol", "ranks", "miss", "messages", "bytes", "hops"

Options of structures:
  --stores LIST         ${storeNames.join(', ')} (default all); one that is not installed is left out, and why is told
  --processes N,N,...   that work at the same time (default ${quickGrid.processes.join(',')})
  --value-sizes N,...   bytes (default ${quickGrid.bytes.join(',')})
  --keys LIST           uniform, zipf (default ${quickGrid.keys.join(',')})
  --writes N,N,...      sets among gets and sets, in a hundred (default ${quickGrid.writes.join(',')})
  --full                defaults of ${fullGrid.processes.join(',')} processes, ${fullGrid.bytes.join(',')} bytes and keys ${fullGrid.keys.join(',')}: some minutes; how many is said first
  --cell-ms N           how long each work of each cell is measured (default ${DEFAULT_CELL_MS})
  --json                rows have "suite", "op", "store", "processes", "bytes", "keys", "samples", "p50Ns", "p99Ns", "maxNs",
                        "quantilesNs", "opsPerSec", "baseline", "ratio", "peakShare";
                        ratio is of medians, p50Ns over that of the shared structure's row, which baseline names;
                        peakShare is opsPerSec over the best that any number of processes had

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
  aether bench all --html bench.html
  aether bench structures --processes 1 --stores aether,Map`
