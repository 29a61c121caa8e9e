import type { Config } from '../../../config/schema.ts';
import { chartEntry, conceptEntry, methodEntry } from '../../../pipelines/concepts/concepts.ts';
import { ACCEPTED_STORAGE } from '../../../pipelines/dicom/sop-classes.ts';
import { FLOWS } from '../../../pipelines/echo/displays/flows.ts';
import { M_MODE_STRUCTURES } from '../../../pipelines/echo/displays/reading.ts';
import { echoEndpoint } from '../../../pipelines/echo/endpoint.ts';
import { ECHO_VIEWS } from '../../../pipelines/echo/locate/names.ts';
import { categoryText } from '../../../pipelines/result/render/categories.ts';
import { conclusionTexts } from '../../../pipelines/result/render/conclusion.ts';
import { viewText } from '../../../pipelines/result/render/echo/views.ts';
import { decimalsOf, numberText } from '../../../pipelines/result/render/number-text.ts';
import { VESSELS } from '../../../pipelines/result/render/obstetric/doppler.ts';
import { PLANE_LABELS } from '../../../pipelines/result/render/obstetric/planes.ts';
import { basisText, weeksAndDays } from '../../../pipelines/result/render/obstetric/shared.ts';
import { doubtOf } from '../../../pipelines/result/render/statement.ts';
import { centileText, unitText, zScoreText } from '../../../pipelines/result/render/unit-text.ts';
import { countingValues } from '../../../pipelines/result/standing.ts';
import { fileName } from '../../core/studies/study-store.ts';
import { type Console, startConsole } from '../../doors/console/console.ts';
import type { ConsoleDeps } from '../../doors/console/context.ts';
import type { Wording } from '../../doors/console/wording.ts';
import type { Operations } from '../../operations/operations.ts';
import type { PooledDatabase } from '../../platform/database/pooled.ts';

/** The wording of results in the console, from the concept table. */
export const RESULT_WORDING: Wording = {
  conclusion: conclusionTexts,
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
  category: categoryText,
  basis: basisText,
  views: { ...PLANE_LABELS, ...VESSELS, ...FLOWS, ...M_MODE_STRUCTURES },
  imageNames: (endpoint) =>
    endpoint === echoEndpoint.id
      ? {
          kind: 'name-view',
          options: ECHO_VIEWS.map((value) => ({ value, text: viewText(value) })),
        }
      : {
          kind: 'name-plane',
          options: Object.entries(PLANE_LABELS).map(([value, text]) => ({
            value,
            text: `${text.charAt(0).toUpperCase()}${text.slice(1)}`,
          })),
        },
  fileName: (ordinal) => fileName({ ordinal }),
};

interface ConsoleServiceParts
  extends Pick<
    ConsoleDeps,
    | 'core'
    | 'reviews'
    | 'storeInstances'
    | 'authenticate'
    | 'writeAudit'
    | 'refusals'
    | 'limits'
    | 'logger'
    | 'stopping'
  > {
  database: PooledDatabase;
  operations: Operations;
}

/** Starts the gateway's console; null if it is disabled. */
export async function startConsoleService(
  config: Config,
  parts: ConsoleServiceParts,
): Promise<Console | null> {
  if (!config.console.enabled) return null;
  return startConsole({
    ...parts,
    config,
    wording: RESULT_WORDING,
  });
}
