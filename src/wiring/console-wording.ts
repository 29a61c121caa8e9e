import { ACCEPTED_STORAGE } from '../../dimse/sop-classes.ts';
import { fileName } from '../../dimse/study-queries.ts';
import { doubtOf } from '../../pipelines/artifacts/statement.ts';
import { FLOWS } from '../../pipelines/echo/flows.ts';
import { weeksAndDays } from '../../pipelines/obstetric/charts/dates.ts';
import { decimalsOf, numberText } from '../../pipelines/obstetric/number-text.ts';
import { VESSELS } from '../../pipelines/obstetric/sections/doppler.ts';
import { PLANE_LABELS } from '../../pipelines/obstetric/sections/planes.ts';
import { centileText, zScoreText } from '../../pipelines/result/centile-text.ts';
import { chartEntry, conceptEntry, methodEntry } from '../../pipelines/result/concepts.ts';
import { standingValues } from '../../pipelines/result/standing-values.ts';
import { unitText } from '../../pipelines/result/unit-text.ts';
import type { Wording } from '../console/result-view.ts';

/** How the console names what a result holds: in the words of the concept table. */
export const WORDING: Wording = {
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
  standing: standingValues,
  sopClass: (uid) => ACCEPTED_STORAGE.get(uid) ?? uid,
  views: { ...PLANE_LABELS, ...VESSELS, ...FLOWS },
  fileName: (ordinal) => fileName({ ordinal }),
};
