/**
 * The plan of the house: a room may import only the rooms above it in this list, and only through their `index.ts`.
 * `npm run lint` holds the source to it; test/repository/rooms.test.ts seeds violations and checks that each is caught.
 */
const rooms = [
  'native',
  'profiling',
  'runtime',
  'codecs',
  'providers',
  'verbs',
  'cm',
  'collectives',
  'messaging',
  'cluster',
  'ranks',
  'dsm',
  'rpc',
  'structures',
  'arrays',
  'consensus',
  'saving',
  'index-service',
  'redis-door',
  'adapters',
  'testing',
  'dashboard',
  'cli',
  'public',
]

/** @type {(names: string[]) => string} */
const anyOf = (names) => `^src/(${names.join('|')})/`

const roomOrder = rooms.slice(0, -1).map((room, position) => ({
  name: `rooms-below-${room}`,
  comment: `${room}/ may import only the rooms above it. What two rooms share moves up to a room that both may import.`,
  severity: 'error',
  from: { path: anyOf([room]) },
  to: { path: anyOf(rooms.slice(position + 1)) },
}))

/** The same among the folders of src/structures/distributed/: what a structure stands on comes before it. */
const distributed = [
  'memory/',
  'verbs/',
  'messages/',
  'waiting/',
  'heap/',
  'rcu/',
  'locks/',
  'map/',
  'log/',
  'list/',
  'mvrlu/',
  '[^/]+$',
]

const distributedOrder = distributed.slice(0, -1).map((folder, position) => ({
  name: `distributed-below-${folder.slice(0, -1)}`,
  comment: `distributed/${folder} may import only the folders above it. What is missing there it declares as an interface.`,
  severity: 'error',
  from: { path: `^src/structures/distributed/${folder}` },
  to: { path: `^src/structures/distributed/(${distributed.slice(position + 1).join('|')})` },
}))

/** What src/adapters/ adapts to, and Lua: users have it, or not. Types may come from elsewhere. */
const peersOfAdapters =
  '^node_modules/(@types/)?(keyv|express-session|rate-limiter-flexible|socket.io-adapter|bullmq|@opentelemetry/api|wasmoon)/'

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...roomOrder,
    ...distributedOrder,
    {
      name: 'through-the-index',
      comment:
        "A room is entered through its index.ts only. Export what is missing there, or it is the room's own business.",
      severity: 'error',
      from: { path: '^src/([^/]+)/' },
      to: { path: '^src/[^/]+/.', pathNot: ['^src/$1/', '^src/[^/]+/index\\.ts$'] },
    },
    {
      name: 'known-room',
      comment:
        'A new folder in src/ is a new room: give it its place in the list at the top of .dependency-cruiser.cjs.',
      severity: 'error',
      from: { path: '^src/', pathNot: anyOf(rooms) },
      to: {},
    },
    {
      name: 'providers-apart',
      comment:
        'One provider never imports another, nor does soft/ import any: it is what devices in software share. What all share lies in providers/ itself.',
      severity: 'error',
      from: { path: '^src/providers/([^/]+)/' },
      to: { path: '^src/providers/[^/]+/', pathNot: ['^src/providers/$1/', '^src/providers/soft/'] },
    },
    {
      name: 'mmu-below-coherent',
      comment: 'Page words, windows and the mmu know nothing of the server of a coherent region, which stands on them.',
      severity: 'error',
      from: { path: '^src/dsm/mmu/' },
      to: { path: '^src/dsm/coherent/' },
    },
    {
      name: 'testing-for-tests',
      comment:
        "testing/ is for tests (ours and users') and the command; nothing that runs in production depends on it.",
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/(testing|cli|public)/' },
      to: { path: '^src/testing/' },
    },
    {
      name: 'source-stands-alone',
      comment:
        'src/ is what is published: it imports neither tests, examples and scripts nor development dependencies.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: ['^(test|examples|scripts)/', 'node_modules/'], pathNot: peersOfAdapters },
    },
    {
      name: 'peers-for-their-adapter',
      comment:
        'An adapter imports the one package that it adapts to, which is an optional peer. No other file imports any but for Lua.',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/adapters/([^/]+)/', '^src/redis-door/scripts/lua/wasm[.]ts$'] },
      to: { path: peersOfAdapters },
    },
    {
      name: 'one-peer-an-adapter',
      comment: 'An adapter is loaded where only its own package is installed.',
      severity: 'error',
      from: { path: '^src/adapters/([^/]+)/' },
      to: { path: peersOfAdapters, pathNot: '^node_modules/(@types/|@)?$1(-adapter)?/' },
    },
    {
      name: 'tools-apart',
      comment: 'tools/ is a package of its own: what is published in src/ runs without it.',
      severity: 'error',
      from: { path: '^src/' },
      to: { path: '^tools/' },
    },
    {
      name: 'tools-through-the-index',
      comment:
        'tools/ enters a room through its index.ts, as aether-dsm/internal/ROOM, or a door for users: so it runs where it is installed.',
      severity: 'error',
      from: { path: '^tools/' },
      to: { path: '^src/[^/]+/.', pathNot: '^src/([^/]+/index|public/[^/]+|adapters/[^/]+/index)\\.ts$' },
    },
    {
      name: 'tools-by-name',
      comment: 'A relative path from tools/ to src/ leads nowhere in an installation: import aether-dsm/internal/ROOM.',
      severity: 'error',
      from: { path: '^tools/' },
      to: { path: '^src/', dependencyTypesNot: ['aliased'] },
    },
    {
      name: 'tools-stand-alone',
      comment: 'tools/ imports neither tests, examples and scripts nor development dependencies.',
      severity: 'error',
      from: { path: '^tools/' },
      to: { path: ['^(test|examples|scripts)/', 'node_modules/'] },
    },
    {
      name: 'no-cycle',
      comment:
        'Modules that know each other, by type only, too. The lower one declares what it needs of the upper one as an interface.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-orphan',
      comment: 'No module imports this one and it imports nothing: wire it in or delete it.',
      severity: 'error',
      from: { path: '^(src|tools)/', pathNot: '\\.(d\\.ts|mjs)$', orphan: true },
      to: {},
    },
    {
      name: 'resolvable',
      comment: 'The imported file does not exist (relative imports end in .ts).',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // What packing the tools leaves behind.
    exclude: { path: '^tools/dist/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    combinedDependencies: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types', 'default'],
    },
  },
}
