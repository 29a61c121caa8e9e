import { formatValue } from '../../result/render/number-text.ts';
import type { FindingDraft } from '../../result/section-outcome.ts';
import type { CardiacReading } from '../fetal-heart/evidence.ts';
import { FETAL_RATE } from '../fetal-heart/guideline.ts';
import { ratesOf } from '../fetal-heart/measure-rate.ts';
import type { PresentationEvidence } from './evidence.ts';

export interface FetalActivity {
  /** `contradictory`: not seen on a cine, and seen or read from elsewhere in the study. */
  state: 'present' | 'not_seen' | 'contradictory' | 'not_assessed';
  sentence: string;
  /** Of the finding that some clip showed no beat; null: every one that could be judged did. */
  severity: Extract<FindingDraft['severity'], 'abnormal' | 'critical'> | null;
}

const NOT_ASSESSED =
  'Cardiac activity was not assessed: no cine of the fetal chest was long and quick enough.';
const CONFIRM = 'confirmation by a second observer is required';

const rateText = (beatsPerMinute: number) => formatValue('fetal-heart-rate', beatsPerMinute);

const listed = (items: readonly string[]) =>
  [items.slice(0, -1).join(', '), ...items.slice(-1)].filter(Boolean).join(' and ');

const capitalised = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}`;

interface Silent {
  file: string;
  seconds: string;
}

function silentClips(readings: readonly CardiacReading[]): Silent[] {
  return readings
    .filter(({ activity }) => activity.status === 'not-seen')
    .map(({ clip }) => {
      const seconds = clip.frames.at(-1)?.time ?? 0;
      return { file: clip.file, seconds: `${seconds.toFixed(1)} s` };
    });
}

/** Where a beat was seen or read from, in words, and whether it must be that of a fetus. */
interface Beat {
  text: string;
  fetal: boolean;
}

function cineBeats(readings: readonly CardiacReading[]): Beat[] {
  return readings.flatMap(({ clip, activity }) =>
    activity.status === 'beating'
      ? [
          {
            text: `it was seen in ${clip.file} (${rateText(activity.beatsPerMinute)})`,
            fetal: true,
          },
        ]
      : [],
  );
}

const SWEPT = [
  { method: 'm-mode-periodicity', name: 'M-mode' },
  { method: 'doppler-periodicity', name: 'Doppler' },
] as const;

/** A rate of M-mode and one of Doppler; one below the range of a fetus may be the mother's. */
function sweptBeats(evidence: PresentationEvidence): Beat[] {
  const accepted = ratesOf(evidence)
    .map(({ measurement }) => measurement)
    .filter(({ quality }) => quality === 'accepted');
  return SWEPT.flatMap(({ method, name }) => {
    const own = accepted.filter((one) => one.method === method).map(({ value }) => value);
    const fetal = own.find((value) => value >= FETAL_RATE.least);
    const rate = fetal ?? own[0];
    if (rate === undefined) return [];
    const doubt = fetal === undefined ? ', which may be the rate of the mother' : '';
    return [{ text: `${name} reads ${rateText(rate)}${doubt}`, fetal: fetal !== undefined }];
  });
}

/** As in obstetric 12; clips are named where there are several, or where something is against it. */
function notSeen(silent: readonly Silent[], named: boolean): string {
  const [first, ...others] = silent;
  const clips =
    first && others.length === 0 && !named
      ? `clip of ${first.seconds}`
      : `${others.length > 0 ? 'clips' : 'clip'} ${listed(silent.map(({ file, seconds }) => `${file} (${seconds})`))}`;
  return `No cardiac activity was seen during the recorded ${clips}`;
}

/**
 * Whether a heart was seen to beat, on the cines of the chest: from a still it is not assessed
 * (obstetric 12). Each cine on which none was seen is named. It is critical, unless a beat
 * of a fetus was seen elsewhere in the study and nothing tells of a second fetus, whose it could be.
 */
export function fetalActivity(evidence: PresentationEvidence): FetalActivity {
  const cines = evidence.views.presentation?.cardiac ?? [];
  const silent = silentClips(cines);
  if (silent.length === 0) {
    const beating = cines.find(({ activity }) => activity.status === 'beating')?.activity;
    return beating?.status === 'beating'
      ? {
          state: 'present',
          sentence: `Cardiac activity seen, ${rateText(beating.beatsPerMinute)}.`,
          severity: null,
        }
      : { state: 'not_assessed', sentence: NOT_ASSESSED, severity: null };
  }
  const beats = [...cineBeats(cines), ...sweptBeats(evidence)];
  if (beats.length === 0) {
    const sentence = `${notSeen(silent, false)}; ${CONFIRM}.`;
    return { state: 'not_seen', sentence, severity: 'critical' };
  }
  const several = evidence.severalFetuses;
  const seen = listed(beats.map(({ text }) => text));
  const whose = several ? ` ${capitalised(several)}.` : '';
  return {
    state: 'contradictory',
    sentence: `${notSeen(silent, true)}, but ${seen}; ${CONFIRM}.${whose}`,
    severity: several === null && beats.some(({ fetal }) => fetal) ? 'abnormal' : 'critical',
  };
}
