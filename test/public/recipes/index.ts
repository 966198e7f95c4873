import type { Recipes } from '../recipe.ts'

/** Each is loaded where it is needed: a process tries one export path. */
const makers: Readonly<Record<string, () => Promise<Recipes>>> = {
  '.': async () => (await import('./main.ts')).mainRecipes(),
  './structures': async () => (await import('./structures.ts')).structureRecipes(),
  './arrays': async () => (await import('./arrays.ts')).arrayRecipes(),
  './consensus': async () => (await import('./consensus.ts')).consensusRecipes(),
  './index-service': async () => (await import('./index-service.ts')).indexServiceRecipes(),
  './profiling': async () => (await import('./profiling.ts')).profilingRecipes(),
  './rpc': async () => (await import('./rpc.ts')).rpcRecipes(),
  './verbs': async () => (await import('./verbs.ts')).verbsRecipes(),
  './messaging': async () => (await import('./messaging.ts')).messagingRecipes(),
  './cm': async () => (await import('./cm.ts')).cmRecipes(),
  './testing': async () => (await import('./testing.ts')).testingRecipes(),
  './adapters/keyv': async () => (await import('./adapters.ts')).keyvRecipes(),
  './adapters/express-session': async () => (await import('./adapters.ts')).sessionRecipes(),
  './adapters/rate-limiter-flexible': async () => (await import('./adapters.ts')).limiterRecipes(),
  './adapters/socket.io': async () => (await import('./adapters.ts')).socketIoRecipes(),
  './adapters/bullmq': async () => (await import('./adapters.ts')).queueRecipes(),
  './adapters/opentelemetry': async () => (await import('./adapters.ts')).telemetryRecipes(),
}

/** How to call what an export path offers. */
export async function recipesOf(door: string): Promise<Recipes> {
  const make = makers[door]
  if (make === undefined) throw new Error(`the export path ${door} needs recipes in test/public/recipes/`)
  return make()
}
