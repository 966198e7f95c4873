/**
 * Boots throw-away Linux machines that have real kernel RDMA (soft-RoCE) and runs a command in them; see `help` below
 * and CONTRIBUTING.md.
 */
import { parseArgs } from 'node:util'
import { missingSentence } from './rdma-guest/requirements.mjs'
import { runGuests } from './rdma-guest/run-guests.mjs'

const help = `Usage: node scripts/rdma-guest.mjs [options] -- COMMAND [ARGUMENT…]

Boots a throw-away Linux machine with the RDMA device rxe0 (soft-RoCE) and runs COMMAND in it as root, in this folder.
The machine sees all files of this one; what it writes is gone afterwards. With two hosts a cable joins them and each runs COMMAND.

  --hosts N     1 (default) or 2
  --timeout S   a host that has not ended by then is stopped (default 300)
  --share DIR   a folder that is shared for writing
  --memory M    of each host, as qemu understands it (default 4G)
  --processors N  of each host (default 2); with more than this machine has, whoever spins in the guest holds up all others

COMMAND finds in its environment: AETHER_RDMA_HOST (0 or 1), AETHER_RDMA_HOSTS, AETHER_RDMA_ADDRESS (10.9.0.1 or 10.9.0.2, GID 1 of rxe0),
AETHER_RDMA_ADDRESS6 (fd09::1 or fd09::2), and whatever is called AETHER_… here. The exit status is that of the first host that failed, 124
where one gave no answer. Kept for the next time: the guest kernel, in ~/.cache/aether-rdma-guest (AETHER_RDMA_CACHE names another folder).

  node scripts/rdma-guest.mjs -- ibv_devinfo -v
  node scripts/rdma-guest.mjs --hosts 2 -- sh -c 'if [ $AETHER_RDMA_HOST = 0 ]; then rping -s -a 10.9.0.1 -C 3; else sleep 2; rping -c -a 10.9.0.1 -C 3; fi'`

function parse() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      hosts: { type: 'string', default: '1' },
      timeout: { type: 'string', default: '300' },
      share: { type: 'string' },
      processors: { type: 'string', default: '2' },
      memory: { type: 'string', default: '4G' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  })
  if (values.help) return undefined
  if (!['1', '2'].includes(values.hosts)) throw new Error(`--hosts is 1 or 2, not '${values.hosts}'`)
  if (!/^[1-9]\d{0,5}$/.test(values.timeout))
    throw new Error(`--timeout is a number of seconds, not '${values.timeout}'`)
  if (!/^([1-9]|1\d|2[0-4])$/.test(values.processors))
    throw new Error(`--processors is 1 to 24, not '${values.processors}'`)
  if (positionals.length === 0) throw new Error('no command; --help shows how')
  const { hosts, timeout, share, memory, processors } = values
  return {
    hosts: Number(hosts),
    timeoutS: Number(timeout),
    share,
    memory,
    processors: Number(processors),
    command: positionals,
  }
}

async function main() {
  const options = parse()
  if (options === undefined) {
    console.log(help)
    return 0
  }
  const missing = missingSentence()
  if (missing !== undefined) throw new Error(missing)
  return (await runGuests(options)).status
}

try {
  process.exit(await main())
} catch (error) {
  console.error(`rdma-guest: ${error.message}`)
  process.exit(2)
}
