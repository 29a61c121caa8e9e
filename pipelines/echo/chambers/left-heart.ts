import type { EchoConcept } from '../../concepts/echo.ts';
import { areaOf } from '../../measure/outline.ts';
import type { Measurement } from '../../result/envelope.ts';
import { remarkOfEcho } from '../../result/render/echo/shared.ts';
import { fractionalChange } from '../formulas/chambers.ts';
import { type ClipBeat, type MeasuredClip, overBeats } from './beats.ts';
import type { ApicalView } from './gaps.ts';
import {
  axial,
  biplaneVolume,
  type ChamberOf,
  type FrameGeometry,
  leftAtrium,
  leftVentricle,
  planeVolume,
} from './geometry.ts';
import { axisCaliper, outlineCaliper, outlined, outlinedId } from './outlined.ts';

/** The clip that is measured for each apical view. */
export type ApicalClips = Readonly<Record<ApicalView, MeasuredClip | null>>;

type Phase = keyof Pick<ClipBeat, 'diastole' | 'systole'>;

const SUFFIX = { A4C: '4c', A2C: '2c', A3C: '3c' } as const;
const SQUARE_CENTIMETRE = 100;

const isCalibrated = ({ clip }: MeasuredClip) => clip.scale !== null;

/** Only a calibrated clip gives sizes. */
const sized = (on: MeasuredClip, value: number | null) => (isCalibrated(on) ? value : null);

const firstOf = ({ beats }: MeasuredClip, phase: Phase): FrameGeometry | null =>
  beats[0]?.[phase] ?? null;

/** Areas of the cavity and of the muscle in one view (echo 3). */
function areas(on: MeasuredClip): Measurement[] {
  const { clip } = on;
  const suffix = SUFFIX[clip.view];
  const section = 'segment-chambers';
  const of = (key: EchoConcept, phase: Phase, figure: (frame: FrameGeometry) => number | null) => {
    const area = overBeats(on, (beat) => figure(beat[phase]));
    return {
      key,
      section,
      method: 'outlined-area',
      on,
      value: sized(on, area && area / SQUARE_CENTIMETRE),
    } as const;
  };
  const cavity = (key: EchoConcept, phase: Phase) => {
    const at = firstOf(on, phase);
    const calipers = at ? [outlineCaliper(at.lv.outline, clip)] : [];
    return outlined({ ...of(key, phase, ({ lv }) => lv.area), at, calipers });
  };
  const muscle = (key: EchoConcept) => {
    const at = firstOf(on, 'diastole');
    const calipers = at?.muscle ? [outlineCaliper(at.muscle, clip)] : [];
    const area = ({ muscle: outline }: FrameGeometry) => outline && areaOf(outline);
    return outlined({ ...of(key, 'diastole', area), at, calipers });
  };
  return [
    ...cavity(`lv-ed-area-${suffix}`, 'diastole'),
    ...cavity(`lv-es-area-${suffix}`, 'systole'),
    ...muscle(`lv-muscle-area-${suffix}`),
  ];
}

/** Volumes, EF and length of the ventricle by discs in one plane (echo 4.2). */
function planeValues(on: MeasuredClip): Measurement[] {
  const { clip } = on;
  if (clip.view === 'A3C') return [];
  const suffix = SUFFIX[clip.view];
  const section = 'lvef';
  const volume = (phase: Phase) => overBeats(on, (beat) => planeVolume(leftVentricle(beat[phase])));
  const [filled, emptied] = [volume('diastole'), volume('systole')];
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
      value: filled !== null && emptied !== null ? fractionalChange(filled, emptied) : null,
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

/** Mean over pairs of beats of two views, paired by number. */
function biplane(four: MeasuredClip, two: MeasuredClip, phase: Phase, of: ChamberOf) {
  const pairs = Math.min(four.beats.length, two.beats.length);
  const volumes = Array.from({ length: pairs }, (_, i) => {
    const [one, other] = [four.beats[i]?.[phase], two.beats[i]?.[phase]];
    return one && other ? biplaneVolume(of(one), of(other)) : null;
  }).filter((volume) => volume !== null);
  return volumes.length > 0 ? volumes.reduce((sum, one) => sum + one, 0) / volumes.length : null;
}

/** Biplane volumes of the ventricle; EF follows from them in the section. */
function biplaneValues({ A4C: four, A2C: two }: ApicalClips): Measurement[] {
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

/** Area, length and volume of the atrium at end-systole, when it is fullest (echo 6). */
function atrialValues({ A4C: four, A2C: two }: ApicalClips): Measurement[] {
  const section = 'la-volume';
  const single = [four, two].flatMap((on) => {
    if (!on || on.clip.view === 'A3C') return [];
    const suffix = SUFFIX[on.clip.view];
    const at = firstOf(on, 'systole');
    const atrium = at && leftAtrium(at);
    const area = overBeats(on, ({ systole }) => systole.la && systole.la.area / SQUARE_CENTIMETRE);
    const length = overBeats(on, ({ systole }) => {
      const figure = axial(systole.la);
      return figure && figure.axis.length / 10;
    });
    const volume = overBeats(on, ({ systole }) => planeVolume(leftAtrium(systole)));
    const outline = at?.la ? [outlineCaliper(at.la.outline, on.clip)] : [];
    return [
      ...outlined({
        key: `la-area-${suffix}`,
        section,
        method: 'outlined-area',
        on,
        value: sized(on, area),
        at,
        calipers: outline,
      }),
      ...outlined({
        key: `la-length-${suffix}`,
        section,
        method: 'outlined-length',
        on,
        value: sized(on, length),
        at,
        calipers: atrium ? [axisCaliper(atrium, on.clip)] : [],
      }),
      ...outlined({
        key: `la-volume-${suffix}`,
        section,
        method: 'disc-summation',
        on,
        value: sized(on, volume),
      }),
    ];
  });
  if (!four || !two || !isCalibrated(four) || !isCalibrated(two)) return single;
  const both = outlined({
    key: 'la-volume-biplane',
    section,
    method: 'biplane-discs',
    on: four,
    value: biplane(four, two, 'systole', leftAtrium),
    inputs: [outlinedId('la-volume-4c'), outlinedId('la-volume-2c')],
  });
  return [...single, ...both];
}

/** All values of the left ventricle and atrium from the outlines. */
export function leftHeartValues(clips: ApicalClips): Measurement[] {
  const measured = Object.values(clips).filter((one) => one !== null);
  return [
    ...measured.flatMap(areas),
    ...measured.flatMap(planeValues),
    ...biplaneValues(clips),
    ...atrialValues(clips),
  ];
}
