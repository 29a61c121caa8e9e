import { imageNumber, type Study } from '../../contract/study.ts';
import type { Measurement } from '../../result/envelope.ts';
import { type Beat, say } from '../../result/render/obstetric/presentation.ts';
import type { FindingDraft } from '../../result/section-outcome.ts';
import type { Statement } from '../../result/statement.ts';
import type { CardiacReading } from '../fetal-heart/evidence.ts';
import { FETAL_RATE } from '../fetal-heart/guideline.ts';
import type { EvidenceWith } from '../shared/section.ts';
import type { SweepReading } from '../shared/sweeps.ts';

export interface PresentationReadings {
  sweeps: readonly SweepReading[];
  /** Readings of cines of the chest that are not sweeps. */
  cardiac: readonly CardiacReading[];
}

export interface PresentationEvidence extends EvidenceWith<'presentation', PresentationReadings> {
  /** Accepted rates of the fetal heart, best source first. */
  heartRates: readonly Pick<Measurement, 'method' | 'value'>[];
}

export interface FetalActivity {
  /** `contradictory`: a cine shows no beat, but another image or value of the study does. */
  state: 'present' | 'not_seen' | 'contradictory' | 'not_assessed';
  statement: Statement;
  /** Severity of the finding that a clip showed no beat; null if there is no such clip. */
  severity: Extract<FindingDraft['severity'], 'abnormal' | 'critical'> | null;
}

const silentClips = (readings: readonly CardiacReading[], study: Pick<Study, 'clips'>) =>
  readings
    .filter(({ activity }) => activity.status === 'not-seen')
    .map(({ clip }) => ({
      image: imageNumber(study, clip.file),
      seconds: clip.frames.at(-1)?.time ?? 0,
    }));

function cineBeats(readings: readonly CardiacReading[], study: Pick<Study, 'clips'>): Beat[] {
  return readings.flatMap(({ clip, activity }): Beat[] =>
    activity.status === 'beating'
      ? [
          {
            by: 'cine',
            image: imageNumber(study, clip.file),
            beatsPerMinute: activity.beatsPerMinute,
            maternal: false,
          },
        ]
      : [],
  );
}

const SWEPT = [
  { method: 'm-mode-periodicity', by: 'm-mode' },
  { method: 'doppler-periodicity', by: 'doppler' },
] as const;

function sweptBeats({ heartRates }: PresentationEvidence): Beat[] {
  return SWEPT.flatMap(({ method, by }): Beat[] => {
    const own = heartRates.filter((one) => one.method === method).map(({ value }) => value);
    const fetal = own.find((value) => value >= FETAL_RATE.least);
    const beatsPerMinute = fetal ?? own[0];
    if (beatsPerMinute === undefined) return [];
    return [{ by, image: null, beatsPerMinute, maternal: fetal === undefined }];
  });
}

/**
 * Assesses cardiac activity on cines of the chest; it is not assessed on stills (obstetric 12). The
 * statement lists each cine without a beat. A missing beat is critical, unless a fetal beat was
 * seen elsewhere in the study and there is no sign of a second fetus to which it could belong.
 */
export function fetalActivity(evidence: PresentationEvidence): FetalActivity {
  const cines = evidence.views.presentation?.cardiac ?? [];
  const silent = silentClips(cines, evidence.study);
  if (silent.length === 0) {
    const beating = cines.find(({ activity }) => activity.status === 'beating')?.activity;
    if (beating?.status !== 'beating') {
      return {
        state: 'not_assessed',
        statement: say.gap('cardiac.not-assessed', {}),
        severity: null,
      };
    }
    const { beatsPerMinute } = beating;
    return {
      state: 'present',
      statement: say.conclusion('cardiac.seen', { beatsPerMinute }),
      severity: null,
    };
  }
  const beats = [...cineBeats(cines, evidence.study), ...sweptBeats(evidence)];
  if (beats.length === 0) {
    const statement = say.conclusion('cardiac.not-seen', { silent });
    return { state: 'not_seen', statement, severity: 'critical' };
  }
  const several = evidence.severalFetuses;
  return {
    state: 'contradictory',
    statement: say.conclusion('cardiac.contradictory', { silent, beats, several }),
    severity: several === null && beats.some(({ maternal }) => !maternal) ? 'abnormal' : 'critical',
  };
}
