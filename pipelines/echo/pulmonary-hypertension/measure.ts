import type { EchoConcept } from '../../concepts/echo.ts';
import type { Measurement } from '../../result/envelope.ts';
import { type RightHeartFault, remarkOfEcho } from '../../result/render/echo/shared.ts';
import { fractionalChange, pressureBehindJet, pressureGradient } from '../formulas.ts';
import type { Values } from '../shared/section.ts';
import { pulmonaryStenosis, tricuspidGrade } from '../valves/guideline.ts';
import { atrialPressure, contradictsCava } from './guideline.ts';

export interface RightHeartPressures {
  /** Values that the section calculated or withheld, each with its remark. */
  own: readonly Measurement[];
  /** Measured and calculated values, except those that were withheld. */
  values: Values;
  tricuspid: ReturnType<typeof tricuspidGrade> | null;
  /** Grade of pulmonary stenosis; null if none was measured. */
  stenosis: ReturnType<typeof pulmonaryStenosis>;
}

/** Values calculated from the RA pressure and the jet. */
const RESTING = ['rvsp', 'tapse-to-spap'] as const satisfies readonly EchoConcept[];

/** Highest RA pressure, mmHg, that is plausible with any jet ([C]; echo 12.2 ends at 20). */
const HIGHEST_ATRIAL = 30;
/** Half of the last decimal of a displayed TR velocity, m/s, and pressure, mmHg. */
const ROUNDING = { jet: 0.05, pressure: 0.5 } as const;

/**
 * Returns true if an RV systolic pressure, mmHg, contradicts the TR velocity, m/s: the RA pressure,
 * which is their difference, would be negative or implausibly high (echo 12.3).
 */
export const contradictsJet = (systolic: number, jet: number): boolean =>
  systolic + ROUNDING.pressure < pressureGradient(jet - ROUNDING.jet) ||
  systolic - ROUNDING.pressure > pressureGradient(jet + ROUNDING.jet) + HIGHEST_ATRIAL;

const withheld = (one: Measurement, section: string, fault: RightHeartFault): Measurement =>
  one.confirmed
    ? { ...one, section }
    : {
        ...one,
        section,
        quality: 'inadequate',
        remarks: [...one.remarks, remarkOfEcho('right-heart.fault', { fault })],
      };

/**
 * Returns the machine's RVSP, and the TAPSE/sPAP based on it, marked as withheld if the RVSP
 * contradicts the TR velocity. A person who confirmed the RVSP has decided.
 */
function contradictingJet({ asMeasured: values }: Values, section: string): Measurement[] {
  const [systolic, jet] = [values.measurement('rvsp'), values.number('tr-vmax')];
  if (!systolic || systolic.confirmed || jet === null) return [];
  if (!contradictsJet(systolic.value, jet)) return [];
  const coupling = values.measurement('tapse-to-spap');
  return [
    withheld(systolic, section, 'contradicts-jet'),
    ...(coupling ? [withheld(coupling, section, 'rests-on-contradicted-rvsp')] : []),
  ];
}

function contradictingCava(values: Values, section: string): Measurement[] {
  const atrial = values.measurement('ra-pressure');
  const [diameter, collapse] = [values.number('ivc-diameter'), values.number('ivc-collapse')];
  if (!atrial || atrial.confirmed || diameter === null || collapse === null) return [];
  if (!contradictsCava(atrial.value, diameter, collapse)) return [];
  const resting = RESTING.flatMap((key) => values.measurement(key) ?? []);
  return [
    withheld(atrial, section, 'contradicts-cava'),
    ...resting.map((one) => withheld(one, section, 'rests-on-contradicted')),
  ];
}

/**
 * Returns the right heart pressures from TR and IVC (echo 12.2, 12.3). An RA pressure from the
 * machine is withheld if it contradicts the IVC, and its RVSP if it contradicts the TR velocity;
 * the RVSP is then calculated again if the RA pressure is known. Pressures from a torrential jet
 * are withheld too, and so are all values based on a withheld value. In pulmonary stenosis, the
 * RVSP is not the pulmonary artery pressure, so TAPSE/sPAP is withheld.
 */
export function rightHeartPressures(given: Values, section: string): RightHeartPressures {
  const contracta = given.number('tr-vena-contracta');
  const tricuspid = contracta === null ? null : tricuspidGrade('venaContracta', contracta);
  const torrential = tricuspid === 'torrential';
  const outflow = given.number('pv-vmax');
  const stenosis = outflow === null ? null : pulmonaryStenosis(outflow);
  const collapse = given.calculated('ivc-collapse', {
    section,
    method: 'cava-collapse',
    from: ['ivc-diameter', 'ivc-least-diameter'],
    value: fractionalChange,
  });
  const withCollapse = given.with([collapse]);
  const ofCava = contradictingCava(withCollapse, section);
  const ofJet = ofCava.length > 0 ? [] : contradictingJet(withCollapse, section);
  const blocked = [...ofCava, ...ofJet];
  const refused: ReadonlySet<EchoConcept> = new Set([
    ...(ofCava.length > 0 ? (['ra-pressure'] as const) : []),
    ...(blocked.length > 0 ? RESTING : []),
  ]);
  const sound = withCollapse.without(refused);
  const atrial = refused.has('ra-pressure')
    ? null
    : sound.calculated('ra-pressure', {
        section,
        method: 'cava-table',
        from: ['ivc-diameter', 'ivc-collapse'],
        value: (diameter = 0, collapsed = 0) => atrialPressure(diameter, collapsed),
        presumes: 'sniff',
      });
  const withAtrial = sound.with([atrial]);
  const systolic = withAtrial.calculated('rvsp', {
    section,
    method: 'jet-plus-atrial',
    from: ['tr-vmax', 'ra-pressure'],
    value: pressureBehindJet,
    presumes: 'no-outflow-stenosis',
  });
  const coupling = withAtrial.with([systolic]).calculated('tapse-to-spap', {
    section,
    method: 'ratio-of-values',
    from: ['tapse', 'rvsp'],
    value: (excursion = 0, pressure = 1) => excursion / pressure,
  });
  const pressures = [
    systolic,
    stenosis === null ? coupling : coupling && withheld(coupling, section, 'outflow-stenosis'),
  ].flatMap((one) => one ?? []);
  // If the RA pressure is unknown, it is not assumed, and only the gradient is reported (echo
  // 12.2).
  const gradient =
    systolic || torrential
      ? null
      : sound.calculated('tr-gradient', {
          section,
          method: 'jet-gradient',
          from: ['tr-vmax'],
          value: pressureGradient,
        });
  const own = [
    ...[collapse, atrial].flatMap((one) => one ?? []),
    ...(torrential ? pressures.map((one) => withheld(one, section, 'torrential')) : pressures),
    ...(gradient ? [gradient] : []),
    ...blocked,
  ];
  const unsound = new Set<EchoConcept>([
    ...refused,
    ...(torrential ? RESTING : []),
    ...(stenosis === null ? [] : (['tapse-to-spap'] as const)),
  ]);
  return { own, values: given.without(unsound).with(own), tricuspid, stenosis };
}
