import type { Command } from './command.ts'

/**
 * A line of the list of commands. A command is loaded only when it is run, so that `aether help` is quick and works on
 * any machine.
 */
export interface CommandEntry {
  readonly name: string
  readonly summary: string
  load(): Promise<Command>
}

/** Every command of this package, in the order of the help. Commands of the tools are in tools.ts. */
export const commandTable: readonly CommandEntry[] = [
  {
    name: 'run',
    summary: 'start N processes of a script as the ranks of a group',
    load: async () => (await import('./run.ts')).runCommand,
  },
  {
    name: 'serve',
    summary: 'serve an index: data by key, for programs of this machine and of others',
    load: async () => (await import('./serve.ts')).serveCommand,
  },
  {
    name: 'index',
    summary: 'show the nodes of an index; write its keys to a file while it runs, and restore them',
    load: async () => (await import('./index-command.ts')).indexCommand,
  },
  {
    name: 'import',
    summary: 'copy a living Redis server into an index, and follow its changes',
    load: async () => (await import('./import.ts')).importCommand,
  },
  {
    name: 'dashboard',
    summary: 'watch a running space in a browser: nodes, flows, pages, the protocol',
    load: async () => (await import('./dashboard.ts')).dashboardCommand,
  },
  {
    name: 'top',
    summary: 'watch a running space in the terminal: members, memory, faults, traffic, structures',
    load: async () => (await import('./top.ts')).topCommand,
  },
  {
    name: 'structures',
    summary: 'list the maps, queues, locks, … of a running space, or show one of them',
    load: async () => (await import('./structures.ts')).structuresCommand,
  },
  {
    name: 'jobs',
    summary: 'list the job queues of a running space and their jobs; retry, remove, pause',
    load: async () => (await import('./jobs.ts')).jobsCommand,
  },
  {
    name: 'keep',
    summary: 'keep a space while no program has it open',
    load: async () => (await import('./keep.ts')).keepCommand,
  },
  {
    name: 'space',
    summary: 'export, import, check, repair or drop a space and its saves',
    load: async () => (await import('./space.ts')).spaceCommand,
  },
  {
    name: 'replay',
    summary: 'step through what a member recorded with AETHER_RECORD',
    load: async () => (await import('./replay.ts')).replayCommand,
  },
  {
    name: 'trace',
    summary: 'merge the parts of a trace file and check it',
    load: async () => (await import('./trace.ts')).traceCommand,
  },
  {
    name: 'devices',
    summary: 'list verbs devices: ports, addresses, capabilities',
    load: async () => (await import('./devices.ts')).devicesCommand,
  },
  {
    name: 'doctor',
    summary: 'check what this machine lacks for shared memory and RDMA, and how to fix it',
    load: async () => (await import('./doctor.ts')).doctorCommand,
  },
]
