import type { Clip } from '../../contract/study.ts';
import { plainWords } from '../../contract/view-words.ts';
import type { HeartView } from './names.ts';

/** View for each code in CID 12226 and TID 5200 (echo 2.1). */
const VIEW_CODES: Readonly<Record<string, HeartView>> = {
  'SCT:399139001': 'PLAX',
  'SCT:399239005': 'PSAX-AV',
  'SCT:399036006': 'PSAX-MV',
  'SCT:399371001': 'PSAX-MV',
  'SCT:399271003': 'PSAX-PM',
  'SCT:399306005': 'PSAX',
  'SCT:399214001': 'A4C',
  'DCM:130681': 'A4C-RV',
  'DCM:130682': 'A4C-RV',
  'SCT:398998003': 'RV-INFLOW',
  'SCT:443082005': 'RV-INFLOW',
  'SCT:399195005': 'RV-OUTFLOW',
  'SCT:443083000': 'RV-OUTFLOW',
  'SCT:399232001': 'A2C',
  'SCT:399339008': 'A3C',
  'SCT:398994001': 'A5C',
  'SCT:399310008': 'SUBCOSTAL-4C',
  'SCT:399200001': 'SUBCOSTAL',
  'SCT:399106004': 'SUPRASTERNAL',
  'SCT:443562002': 'SUPRASTERNAL',
  'SCT:399145009': 'SUPRASTERNAL',
};

/** Returns a pattern for the name of a short axis with its level, such as "PSAX at the apex". */
const shortAxisAt = (level: string) =>
  new RegExp(`^(psax|sax|parasternal short axis)( view)?( at)?( the)? (${level})( level| view)*$`);

/**
 * View for each View Name that machines write in stress protocols. The patterns match names in the
 * form returned by `plainWords`. Names are never displayed.
 */
const VIEW_NAMES: readonly (readonly [RegExp, HeartView])[] = [
  [/^(plax|parasternal long axis)$/, 'PLAX'],
  [shortAxisAt('av|ao|aortic( valve)?'), 'PSAX-AV'],
  [shortAxisAt('mv|mitral( valve)?|chord(ae|al)'), 'PSAX-MV'],
  [shortAxisAt('pm|pap|papillary( muscles?)?|mid( lv| ventricle| ventricular)?'), 'PSAX-PM'],
  [shortAxisAt('ap|apex|apical'), 'PSAX-AP'],
  [/^(psax|sax|parasternal short axis)/, 'PSAX'],
  [/^(a4c|4 ?ch|ap ?4|apical (4|four) chamber)$/, 'A4C'],
  [/^(a2c|2 ?ch|ap ?2|apical (2|two) chamber)$/, 'A2C'],
  [/^(a3c|3 ?ch|ap ?3|aplax|apical (3|three) chamber|apical long axis)$/, 'A3C'],
  [/^(a5c|5 ?ch|ap ?5|apical (5|five) chamber)$/, 'A5C'],
];

/** Returns the view identified by the header; null if it identifies no known view. */
export function headerView({
  viewCode,
  viewName,
}: Pick<Clip, 'viewCode' | 'viewName'>): HeartView | null {
  const coded = viewCode ? VIEW_CODES[viewCode] : undefined;
  const words = plainWords(viewName ?? '');
  const named = VIEW_NAMES.find(([pattern]) => pattern.test(words))?.[1];
  return coded ?? named ?? null;
}

/** Manoeuvres, drugs and exercise that change flows, volumes and wall motion (echo 14.1). */
const PROVOCATION =
  /\b(valsalva|provo\w*|stress|exercis\w*|standing|squat\w*|hand ?grip|leg rais\w*|dobu\w*|amyl\w*|treadmill|bicycle|ergometer)\b/;

/**
 * Names of the later stages of a stress protocol (CID 12002). Images after contrast or after an
 * operation are at rest.
 */
const LATER_STAGE = /\b(peak|impost|post(?! (contrast|op))|recovery|mid|(low|medium|high) dose)\b/;

/**
 * Names of the stage at rest. It counts as rest even if it is not the first stage of the protocol.
 */
const STAGE_AT_REST = /\b(rest|resting|base ?line|pre)\b/;

/**
 * Returns true if the header states that the image was recorded during a stress test or a
 * manoeuvre. Its values are then not those at rest, for which the limits were published.
 */
export function isUnderStress({
  viewName,
  stageName,
  stageNumber,
}: Pick<Clip, 'viewName' | 'stageName' | 'stageNumber'>): boolean {
  if (PROVOCATION.test(plainWords(viewName ?? ''))) return true;
  const stage = plainWords(stageName ?? '');
  if (STAGE_AT_REST.test(stage)) return false;
  return PROVOCATION.test(stage) || LATER_STAGE.test(stage) || (stageNumber ?? 1) > 1;
}
