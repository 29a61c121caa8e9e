import { type CheckFormula, known, type VectorInputs } from '../../contract/vector-inputs.ts';
import {
  cardiacOutput,
  correctedGradient,
  halfTimeOfDeceleration,
  halfTimeOfSlope,
  meanGradient,
  pressureGradient,
  pressureRise,
  strokeVolume,
  velocityAtHalfTime,
  velocityTimeIntegral,
} from '../formulas/doppler.ts';
import {
  continuityArea,
  flowRate,
  mitralAreaByDeceleration,
  mitralAreaByHalfTime,
  pisaFlow,
  pisaOrifice,
  regurgitantFraction,
  regurgitantVolume,
  simplifiedMitralOrifice,
  tricuspidAreaByHalfTime,
  valvuloArterialImpedance,
  volumetricRegurgitation,
} from '../formulas/valves.ts';
import { stenosisGrade } from '../guidelines/aortic-stenosis.ts';
import { mitralStenosis2009, mitralStenosis2020 } from '../guidelines/mitral-stenosis.ts';
import { quantitativeGrade, tricuspidGrade } from '../guidelines/regurgitation.ts';

/** Velocity, m/s, at a share of the flow time. */
const SHAPES: Readonly<Record<string, (share: number) => number>> = {
  triangle: (share) => 1 - Math.abs(2 * share - 1),
  parabola: (share) => 4 * share * (1 - share),
  'half-sine': (share) => Math.sin(Math.PI * share),
};

/** Enough samples for the limit of a continuous curve. */
const CONTINUOUS = 10_001;

function curve(i: VectorInputs): { samples: number[]; step: number } {
  const shape = known(SHAPES, i.text('shape'));
  const peak = i.number('peakMS');
  const count = i.isText('samples') ? CONTINUOUS : i.number('samples');
  const samples = Array.from({ length: count }, (_, k) => peak * shape(k / (count - 1)));
  return { samples, step: i.number('durationS') / (count - 1) };
}

const volumes = (i: VectorInputs) => ({
  orifice: i.optionalNumber('eroaMm2'),
  volume: i.optionalNumber('regurgitantVolumeMl'),
  fraction: i.optionalNumber('regurgitantFractionPercent'),
});

/** Doppler and valves (reference 11, 17). */
export const FLOW_CHECKS: Readonly<Record<string, CheckFormula>> = {
  'doppler.bernoulli': (i) => pressureGradient(i.number('velocityMS')),
  'doppler.bernoulliProximalCorrected': (i) =>
    correctedGradient(i.number('distalMS'), i.number('proximalMS')),
  'doppler.vti.trapezoid': (i) => {
    const { samples, step } = curve(i);
    return velocityTimeIntegral(samples, step);
  },
  'doppler.meanGradient': (i) => {
    const { samples, step } = curve(i);
    return meanGradient(samples, step);
  },
  'doppler.phtFromDecelerationTime': (i) => halfTimeOfDeceleration(i.number('decelerationTimeMs')),
  'doppler.phtFromSlope': (i) => halfTimeOfSlope(i.number('peakMS'), i.number('slopeMS2')),
  'doppler.velocityAtPht': (i) => velocityAtHalfTime(i.number('peakMS')),
  'doppler.strokeVolume': (i) => strokeVolume(i.number('lvotDiameterCm'), i.number('lvotVtiCm')),
  'doppler.cardiacOutput': (i) =>
    cardiacOutput(
      strokeVolume(i.number('lvotDiameterCm'), i.number('lvotVtiCm')),
      i.number('heartRate'),
    ),
  'doppler.strokeVolumeIndex': (i) => i.number('strokeVolumeMl') / i.number('bsaM2'),
  'doppler.dpdt.mr': (i) => pressureRise(1, 3, i.number('interval1to3MSMs')),
  'doppler.dpdt.rv': (i) => pressureRise(1, 2, i.number('interval1to2MSMs')),
  'av.area.vti': (i) =>
    continuityArea(i.number('lvotDiameterCm'), i.number('lvotVtiCm'), i.number('avVtiCm')),
  'av.area.vmax': (i) =>
    continuityArea(i.number('lvotDiameterCm'), i.number('lvotVmaxMS'), i.number('avVmaxMS')),
  'av.areaIndex': (i) => i.number('avaCm2') / i.number('bsaM2'),
  'av.dvi': (i) => i.number('lvotVtiCm') / i.number('avVtiCm'),
  'av.zva': (i) =>
    valvuloArterialImpedance(
      i.number('systolicBpMmHg'),
      i.number('meanGradientMmHg'),
      i.number('sviMlM2'),
    ),
  'av.flowRate': (i) => flowRate(i.number('strokeVolumeMl'), i.number('ejectionTimeMs')),
  'av.stenosisGrade': (i) =>
    stenosisGrade({
      peak: i.optionalNumber('vmaxMS'),
      meanGradient: i.optionalNumber('meanGradientMmHg'),
      area: i.optionalNumber('avaCm2'),
      areaIndex: i.optionalNumber('avaiCm2M2'),
      strokeIndex: i.optionalNumber('sviMlM2'),
      ef: i.optionalNumber('lvefPercent'),
    }),
  'pisa.flow': (i) => pisaFlow(i.number('radiusCm'), i.number('aliasCmS')),
  'pisa.eroa': (i) =>
    pisaOrifice(i.number('radiusCm'), i.number('aliasCmS'), i.number('peakVelocityCmS')),
  'pisa.regurgitantVolume': (i) => regurgitantVolume(i.number('eroaCm2'), i.number('vtiCm')),
  'mr.eroaSimplified': (i) => simplifiedMitralOrifice(i.number('radiusCm')),
  regurgitantFraction: (i) =>
    regurgitantFraction(i.number('regurgitantVolumeMl'), i.number('totalStrokeVolumeMl')),
  'mr.regurgitantVolume.volumetric': (i) =>
    volumetricRegurgitation(
      { diameter: i.number('mitralAnnulusDiameterCm'), vti: i.number('mitralAnnulusVtiCm') },
      { diameter: i.number('lvotDiameterCm'), vti: i.number('lvotVtiCm') },
    ),
  'ar.quantGrade': (i) => quantitativeGrade('aortic', volumes(i)),
  'mr.quantGrade': (i) => quantitativeGrade('mitral', volumes(i)),
  'tr.vcGrade': (i) => tricuspidGrade('venaContracta', i.number('biplaneVcMm')),
  'tr.eroaGrade': (i) => tricuspidGrade('orifice', i.number('eroaMm2')),
  'ms.area.pht': (i) => mitralAreaByHalfTime(i.number('phtMs')),
  'ms.area.dt': (i) => mitralAreaByDeceleration(i.number('decelerationTimeMs')),
  'ts.area.pht': (i) => tricuspidAreaByHalfTime(i.number('phtMs')),
  'ms.grade.acc2020': (i) => mitralStenosis2020(i.number('mvaCm2')),
  'ms.grade.easease2009': (i) => mitralStenosis2009(i.number('mvaCm2')),
};
