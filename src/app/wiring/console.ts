import { routingSchema } from '../../../config/routing.ts';
import type { Config } from '../../../config/schema.ts';
import { createHoldQueue } from '../../../fhir/deliver/holds.ts';
import { chartEntry, conceptEntry, methodEntry } from '../../../pipelines/concepts/concepts.ts';
import { ACCEPTED_STORAGE } from '../../../pipelines/dicom/sop-classes.ts';
import { FLOWS } from '../../../pipelines/echo/displays/flows.ts';
import { VESSELS } from '../../../pipelines/obstetric/doppler/section.ts';
import { PLANE_LABELS } from '../../../pipelines/obstetric/planes/section.ts';
import { weeksAndDays } from '../../../pipelines/result/gestational-age.ts';
import { decimalsOf, numberText } from '../../../pipelines/result/render/number-text.ts';
import { doubtOf } from '../../../pipelines/result/render/statement.ts';
import { centileText, unitText, zScoreText } from '../../../pipelines/result/render/unit-text.ts';
import { countingValues } from '../../../pipelines/result/standing.ts';
import type { ReceivedObjects } from '../../core/files/received-objects.ts';
import { replayDelivery, sendAgain } from '../../core/outbox/deliveries.ts';
import { divertByHand } from '../../core/outbox/divert.ts';
import {
  completeNow,
  dryRun,
  holdStudy,
  releaseStudy,
  rerunStudy,
} from '../../core/studies/commands.ts';
import { explainStudy } from '../../core/studies/explain.ts';
import { subjectOfRequest } from '../../core/studies/patient.ts';
import { requireKnownAttributes } from '../../core/studies/rules/attribute-values.ts';
import type { RulesSource } from '../../core/studies/rules/rules-source.ts';
import { fileName } from '../../core/studies/study-queries.ts';
import { type Console, startConsole } from '../../doors/console/console.ts';
import type { ConsoleDeps } from '../../doors/console/context.ts';
import type { ConsoleOperations } from '../../doors/console/port.ts';
import type { Wording } from '../../doors/console/result-view.ts';
import type { PooledDatabase } from '../../platform/database/pooled.ts';
import { checkPeers } from '../doctor/peers.ts';
import { checkThisMachine } from '../doctor/this-machine.ts';

/** How the console names what a result holds: in the words of the concept table. */
export const RESULT_WORDING: Wording = {
  decimals: decimalsOf,
  number: numberText,
  abbreviation: (concept) => conceptEntry(concept)?.abbreviation ?? concept,
  unit: unitText,
  weeks: weeksAndDays,
  centile: centileText,
  zScore: zScoreText,
  doubt: doubtOf,
  method: (key) => methodEntry(key)?.text ?? key,
  chart: (key) => chartEntry(key)?.name ?? key,
  standing: countingValues,
  sopClass: (uid) => ACCEPTED_STORAGE.get(uid) ?? uid,
  views: { ...PLANE_LABELS, ...VESSELS, ...FLOWS },
  fileName: (ordinal) => fileName({ ordinal }),
};

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
    wording: RESULT_WORDING,
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
