import { meanOfBeats } from '../../measure/statistics.ts';
import type { Measurement } from '../../result/envelope.ts';
import { asRepeat, isConfirmed } from '../../result/measured.ts';
import { remarkOfEcho } from '../../result/render/echo/shared.ts';
import {
  type ApicalClips,
  biplane,
  firstOf,
  isCalibrated,
  type MeasuredClip,
  mean,
  overBeats,
  type Phase,
  sized,
} from '../chambers/beats.ts';
import { leftVentricle, planeVolume } from '../chambers/geometry.ts';
import { axisCaliper, outlineCaliper, outlined, outlinedId, SUFFIX } from '../chambers/outlined.ts';
import { fractionalChange } from '../formulas.ts';
import { EF_VARIABILITY, isApart } from './judge.ts';

/** Returns the volumes, EF and length of the ventricle by single-plane discs (echo 4.2). */
export function planeValues(on: MeasuredClip): Measurement[] {
  const { clip } = on;
  if (clip.view === 'A3C') return [];
  const suffix = SUFFIX[clip.view];
  const section = 'lvef';
  const volume = (phase: Phase) => overBeats(on, (beat) => planeVolume(leftVentricle(beat[phase])));
  const [filled, emptied] = [volume('diastole'), volume('systole')];
  const ejected = overBeats(on, (beat) => {
    const [before, after] = [leftVentricle(beat.diastole), leftVentricle(beat.systole)];
    const [most, least] = [planeVolume(before), planeVolume(after)];
    return most !== null && least !== null ? fractionalChange(most, least) : null;
  });
  const [diastole, systole] = [firstOf(on, 'diastole'), firstOf(on, 'systole')];
  const discs = { section, method: 'disc-summation', on } as const;
  const edv = outlined({
    ...discs,
    key: `lvedv-${suffix}`,
    value: sized(on, filled),
    at: diastole,
    calipers: diastole ? [outlineCaliper(diastole.lv.outline, clip)] : [],
  });
  const esv = outlined({
    ...discs,
    key: `lvesv-${suffix}`,
    value: sized(on, emptied),
    at: systole,
    calipers: systole ? [outlineCaliper(systole.lv.outline, clip)] : [],
  });
  const length = overBeats(on, ({ diastole: frame }) => frame.lv.axis.length / 10);
  return [
    ...outlined({
      ...discs,
      key: `lvef-${suffix}`,
      value: ejected &&
        filled &&
        emptied && {
          ...ejected,
          // The volumes may have been changed in a review, so the EF is calculated from the
          // reviewed volumes.
          value: fractionalChange(edv[0]?.value ?? filled.value, esv[0]?.value ?? emptied.value),
        },
      inputs: [...edv, ...esv].map(({ id }) => id),
      remarks: isCalibrated(on) ? [] : [remarkOfEcho('outlines.ratio-only', { of: 'volumes' })],
    }),
    ...edv,
    ...esv,
    ...outlined({
      key: `lv-length-${suffix}`,
      section,
      method: 'outlined-length',
      on,
      value: sized(on, length),
      at: diastole,
      calipers: diastole ? [axisCaliper(diastole.lv, clip)] : [],
    }),
  ];
}

/** Returns the biplane volumes of the ventricle. The section calculates the EF from them. */
export function biplaneValues({ A4C: four, A2C: two }: ApicalClips): Measurement[] {
  if (!four || !two || !isCalibrated(four) || !isCalibrated(two)) return [];
  return (['diastole', 'systole'] as const).flatMap((phase) => {
    const [key, plane] =
      phase === 'diastole'
        ? (['lvedv-biplane', 'lvedv'] as const)
        : (['lvesv-biplane', 'lvesv'] as const);
    return outlined({
      key,
      section: 'lvef',
      method: 'biplane-discs',
      on: four,
      value: biplane(four, two, phase, leftVentricle),
      inputs: [outlinedId(`${plane}-4c`), outlinedId(`${plane}-2c`)],
    });
  });
}

/**
 * Returns true if the two networks were compared but do not agree on any beat. The outlines of the
 * clip are then not trusted.
 */
export const areDisputed = ({ clip: { ejections } }: MeasuredClip): boolean =>
  ejections.length > 0 && !ejections.some(({ accepted }) => accepted);

/**
 * Returns the LVEF combined from both networks, averaged over the beats on which they agree (api
 * 2.6). If they agree on none, it is the mean over all beats and is not accepted.
 */
export function networkValues(on: MeasuredClip | null): Measurement[] {
  if (!on || on.clip.ejections.length === 0) return [];
  const agreeing = on.clip.ejections.filter(({ accepted }) => accepted);
  const used = agreeing.length > 0 ? agreeing : on.clip.ejections;
  return outlined({
    key: 'lvef-networks',
    section: 'lvef',
    method: 'mean-of-networks',
    on,
    value: meanOfBeats(used.map(({ percent }) => percent)),
    remarks: on.clip.scale ? [] : [remarkOfEcho('outlines.ratio-only', { of: 'volumes' })],
  }).map((measurement) =>
    isConfirmed(measurement)
      ? measurement
      : {
          ...measurement,
          confidence: mean(used.map(({ confidence }) => confidence)),
          ...(areDisputed(on) && {
            quality: 'low' as const,
            remarks: [remarkOfEcho('outlines.networks-disagree', {})],
          }),
        },
  );
}

/**
 * Returns the LVEFs of further A4C clips: as repeats if both networks agree on them, and withheld if
 * they do not and the LVEF contradicts that of the measured clip. Empty if that LVEF was not
 * accepted, because no other clip may take its place.
 */
export function repeatedEjections(
  [measured]: readonly Measurement[],
  others: readonly MeasuredClip[],
): Measurement[] {
  if (measured?.quality !== 'accepted') return [];
  const disputed = remarkOfEcho('lvef.other-clip-disputed', { points: EF_VARIABILITY });
  return others.flatMap(networkValues).flatMap((own, i) => {
    const one = { ...own, id: `${own.id}-${i + 2}` };
    if (one.quality === 'accepted') return [asRepeat(one)];
    const isContradicting = one.quality === 'low' && isApart(one.value, measured.value);
    return isContradicting ? [{ ...one, remarks: [disputed] }] : [];
  });
}
