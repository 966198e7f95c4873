import type { Command } from './command.ts'

/**
 * A line of the list of commands. The command itself is loaded only when asked for, so that `aether help` is quick and
 * runs anywhere.
 */
export interface CommandEntry {
  readonly name: string
  readonly summary: string
  load(): Promise<Command>
}

/** Every command of this package, in the order in which help lists them; those of the tools are in tools.ts. */
export const commandTable: readonly CommandEntry[] = [
  {
    name: 'run',
    summary: 'start N processes of a script as the ranks of a group',
    load: async () => (await import('./run.ts')).runCommand,
  },
  {
    name: 'dashboard',
    summary: 'watch a running space in a browser, live: nodes, flows, pages, the protocol',
    load: async () => (await import('./dashboard.ts')).dashboardCommand,
  },
  {
    name: 'top',
    summary: 'watch a running space in the terminal: members, processors, memory, faults, traffic',
    load: async () => (await import('./top.ts')).topCommand,
  },
  {
    name: 'replay',
    summary: 'step through what a member recorded with AETHER_RECORD',
    load: async () => (await import('./replay.ts')).replayCommand,
  },
  {
    name: 'trace',
    summary: 'put the parts of a trace file together, and check it',
    load: async () => (await import('./trace.ts')).traceCommand,
  },
  {
    name: 'devices',
    summary: 'list verbs devices: ports, addresses, what they can do',
    load: async () => (await import('./devices.ts')).devicesCommand,
  },
  {
    name: 'doctor',
    summary: 'look at what this machine lacks for shared memory and RDMA, and how to mend it',
    load: async () => (await import('./doctor.ts')).doctorCommand,
  },
]
