import { routingSchema } from '../../config/routing-schema.ts';
import type { Config } from '../../config/schema.ts';
import { explainStudy } from '../../dimse/explain.ts';
import { requireKnownAttributes } from '../../dimse/routing/attribute-values.ts';
import type { RulesSource } from '../../dimse/routing/rules-source.ts';
import {
  completeNow,
  dryRun,
  holdStudy,
  releaseStudy,
  rerunStudy,
} from '../../dimse/study-commands.ts';
import { subjectOfRequest } from '../../dimse/subject.ts';
import { createHoldQueue } from '../../fhir/hold-queue.ts';
import { checkPeers } from '../cli/doctor/peers.ts';
import { checkThisMachine } from '../cli/doctor/this-machine.ts';
import type { ConsoleDeps } from '../console/deps.ts';
import type { ConsoleOperations } from '../console/port.ts';
import { type Console, startConsole } from '../console/start.ts';
import type { PooledDatabase } from '../database/pooled.ts';
import type { ReceivedObjects } from '../files/port.ts';
import { replayDelivery, sendAgain } from '../outbox/deliveries.ts';
import { divertByHand } from '../outbox/divert.ts';
import { WORDING } from './console-wording.ts';

interface ConsoleServiceParts
  extends Pick<
    ConsoleDeps,
    'core' | 'authenticate' | 'writeAudit' | 'limits' | 'logger' | 'stopping'
  > {
  database: PooledDatabase;
  objects: ReceivedObjects;
  rules: RulesSource;
}

/** The console on the parts of the gateway; null when the site has none. */
export async function startConsoleService(
  config: Config,
  { objects, rules, ...parts }: ConsoleServiceParts,
): Promise<Console | null> {
  if (!config.console.enabled) return null;
  const { database } = parts;
  return startConsole({
    ...parts,
    config,
    operations: consoleOperations(config, { database, objects, rules }),
  });
}

function consoleOperations(
  config: Config,
  { database, objects, rules }: Pick<ConsoleServiceParts, 'database' | 'objects' | 'rules'>,
): ConsoleOperations {
  const now = () => ({ routing: rules.current(), at: new Date() });
  const giveUpSeconds = config.delivery.giveUpAfterHours * 3600;
  return {
    studies: {
      explain: (key) => explainStudy(database, key, { ...now(), objects }),
      complete: (key) => completeNow(database, key, new Date()),
      hold: (key, reason) => holdStudy(database, key, reason),
      release: (key, rule) => releaseStudy(database, key, rule, now()),
      rerun: (key) => rerunStudy(database, key, new Date()),
      dryRun: (routing, last) =>
        dryRun(database, { ...now(), ...(routing && { routing }), objects, last }),
    },
    wording: WORDING,
    routing: rules.current,
    checkRouting: (routing) => requireKnownAttributes(routingSchema.parse(routing)),
    deliveries: {
      replay: (id) => replayDelivery(database, id, giveUpSeconds),
      divert: (id, destination) => divertByHand(database, id, destination, giveUpSeconds),
    },
    holds: createHoldQueue({
      database,
      subjectOf: (requestId) => subjectOfRequest(database, requestId),
      sendAgain: (tx, id) => sendAgain(tx, id, ['dead', 'pending'], giveUpSeconds),
    }),
    async doctor(peer) {
      if (peer === null) {
        const [machine, peers] = await Promise.all([checkThisMachine(config), checkPeers(config)]);
        return [...machine, ...peers];
      }
      return checkPeers({
        ...config,
        destinations: config.destinations.filter(({ name }) => name === peer),
        sources: config.sources.filter(({ name }) => name === peer),
      });
    },
  };
}
