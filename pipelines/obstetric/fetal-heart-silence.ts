import { fetusKey, fetusOf } from '../contract/fetus-name.ts';
import { findingConcept } from '../result/concepts.ts';
import type { Finding } from '../result/envelope.ts';
import { FETAL_RATE } from './charts/fetal-heart.ts';
import { FETAL_HEART_SECTION, type RateGroup, type RateReading } from './fetal-heart-rate.ts';
import type { ObstetricEvidence } from './section.ts';

const SILENT = 'An M-mode shows no beat that repeats: cardiac activity was not confirmed on it.';

/** As of a silent cine (obstetric reference 12): neutral, and a second observer is required. */
const SECOND_OBSERVER =
  'No cardiac activity was seen on the recorded M-mode; confirmation by a second observer is required.';

/** Presentation tells it as a finding, with the length of the clip. */
const SILENT_CINE = 'No cardiac activity was seen on a cine of the chest.';

/** A slower one may be the rate of the mother. */
const isFetalBeat = ({ measurement, source }: RateReading) =>
  measurement.quality === 'accepted' &&
  source !== 'ultrasound machine' &&
  measurement.value >= FETAL_RATE.least;

/** Whether the heart of the fetus of a sweep was seen to beat on another image. */
function beatsElsewhere(groups: readonly RateGroup[], fetus: string | null): boolean {
  return groups.some(
    (group) =>
      group.rates.some(isFetalBeat) &&
      (!group.several ||
        (fetus !== null && group.fetus !== null && fetusKey(group.fetus) === fetusKey(fetus))),
  );
}

/**
 * Sweeps of a fetus on which nothing repeats at the rate of a heart. The line may have missed the heart:
 * where it beats on another image of the same fetus, nothing is found.
 */
export function silentSweeps(
  { study, views }: ObstetricEvidence,
  groups: readonly RateGroup[],
): { sentences: string[]; findings: Finding[] } {
  const silent = (views.fetalHeart?.mMode ?? []).filter(
    ({ fetal, rhythm }) => fetal && rhythm.status === 'not-seen',
  );
  const cines = views.presentation?.cardiac ?? [];
  const unproven = silent.filter(({ file }) => {
    const clip = study.clips.find((one) => one.file === file);
    return !beatsElsewhere(groups, clip ? fetusOf(clip) : null);
  });
  const finding: Finding = {
    id: 'cardiac-activity',
    section: FETAL_HEART_SECTION,
    concept: findingConcept('cardiac-activity'),
    text: SECOND_OBSERVER,
    severity: 'critical',
    confidence: null,
    evidence: [],
  };
  return {
    sentences: [
      ...(silent.length > 0 ? [SILENT] : []),
      ...(cines.some(({ activity }) => activity.status === 'not-seen') ? [SILENT_CINE] : []),
    ],
    findings: unproven.length > 0 ? [finding] : [],
  };
}
