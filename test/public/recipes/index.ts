import type { Recipes } from '../recipe.ts'
import {
  keyvRecipes,
  limiterRecipes,
  queueRecipes,
  sessionRecipes,
  socketIoRecipes,
  telemetryRecipes,
} from './adapters.ts'
import { arrayRecipes } from './arrays.ts'
import { cmRecipes } from './cm.ts'
import { mainRecipes } from './main.ts'
import { messagingRecipes } from './messaging.ts'
import { profilingRecipes } from './profiling.ts'
import { rpcRecipes } from './rpc.ts'
import { structureRecipes } from './structures.ts'
import { testingRecipes } from './testing.ts'
import { verbsRecipes } from './verbs.ts'

const makers: Readonly<Record<string, () => Promise<Recipes>>> = {
  '.': mainRecipes,
  './structures': structureRecipes,
  './arrays': arrayRecipes,
  './profiling': profilingRecipes,
  './rpc': rpcRecipes,
  './verbs': verbsRecipes,
  './messaging': messagingRecipes,
  './cm': cmRecipes,
  './testing': testingRecipes,
  './adapters/keyv': keyvRecipes,
  './adapters/express-session': sessionRecipes,
  './adapters/rate-limiter-flexible': limiterRecipes,
  './adapters/socket.io': socketIoRecipes,
  './adapters/bullmq': queueRecipes,
  './adapters/opentelemetry': telemetryRecipes,
}

/** How to call what an export path offers. */
export async function recipesOf(door: string): Promise<Recipes> {
  const make = makers[door]
  if (make === undefined) throw new Error(`the export path ${door} needs recipes in test/public/recipes/`)
  return make()
}
