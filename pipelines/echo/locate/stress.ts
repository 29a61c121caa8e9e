import type { Clip } from '../../contract/study.ts';
import { plainWords } from '../../contract/view-words.ts';

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
