import { hasValidCheckDigit } from '../concepts/coding.ts';
import {
  type CheckFormula,
  known,
  ofNumbers,
  type VectorInputs,
} from '../contract/vector-inputs.ts';
import { imageTypeFlags } from '../input/dicom/clip.ts';
import { velocityOfShift } from '../input/dicom/regions.ts';
import { distance } from '../measure/ellipse.ts';
import { valueAt } from '../measure/m-mode/plane.ts';
import { obstructionText, wallText } from '../result/render/echo/cardiomyopathy.ts';
import { gradeText } from '../result/render/echo/diastolic.ts';
import { focusedBandText } from '../result/render/echo/focused.ts';
import { heartFailureText } from '../result/render/echo/lvef.ts';
import {
  abnormalityText,
  effusionText,
  geometryText,
  MITRAL_STENOSIS_GRADES,
  REGURGITATION_GRADES,
} from '../result/render/echo/shared.ts';
import { AORTIC_STENOSIS_GRADES, TRICUSPID_GRADES } from '../result/render/echo/valves.ts';
import { obstructionCategory, wallStatement } from './cardiomyopathy/guideline.ts';
import { algorithm2016A, algorithm2016B, type Diastolic2016 } from './diastolic/guideline-2016.ts';
import { algorithm2025, earlyOverAnnular } from './diastolic/guideline-2025.ts';
import { focusedBand } from './focused/guideline.ts';
import * as formulas from './formulas.ts';
import { LEFT_ATRIUM } from './la-volume/guideline.ts';
import { geometryOf, LEFT_VENTRICLE } from './lv-size/guideline.ts';
import { APICAL_SPARING, strainBand } from './lv-strain/judge.ts';
import { EJECTION_FRACTION, heartFailureRange } from './lvef/guideline.ts';
import { effusionGrade, respiratoryVariation } from './pericardial-effusion/guideline.ts';
import {
  atrialPressure,
  probability,
  type SignCategory,
} from './pulmonary-hypertension/guideline.ts';
import { isBeyond, RV_FUNCTION, RV_SIZE } from './rv-function/guideline.ts';
import { type GradedQuantity, gradeOf, type Sex } from './shared/grading.ts';
import {
  mitralStenosis2009,
  mitralStenosis2020,
  quantitativeGrade,
  stenosisGrade,
  tricuspidGrade,
} from './valves/guideline.ts';
import { ARTERIES, territoryOf } from './wall-motion/guideline.ts';

/**
 * Returns the frame (0-based) displayed at a given time: floor(t / frame time), both in ms (echo
 * 4.3).
 */
const frameAt = (time: number, frameTime: number) => Math.floor(time / frameTime);

/** Checks on scales, modes and times in the header (echo 2). */
const DICOM_CHECKS: Readonly<Record<string, CheckFormula>> = {
  'dicom.usDistance2D': (i) =>
    distance(
      { x: 0, y: 0 },
      { x: i.number('dxPixels'), y: i.number('dyPixels') },
      { x: i.number('deltaXCm'), y: i.number('deltaYCm') },
    ),
  'dicom.usVelocity': (i) => {
    const valuePerPixel = Math.abs(i.number('physicalDeltaYCmS'));
    const atReference = i.optionalNumber('referencePhysicalY') ?? 0;
    const zeroRow =
      i.number('regionMinY0') + i.number('referencePixelY0') + atReference / valuePerPixel;
    return valueAt({ unit: 'cm/s', zeroRow, valuePerPixel }, i.number('row'));
  },
  'dicom.dopplerShiftToVelocity': (i) => {
    const perHertz = velocityOfShift(i.number('transducerKHz'), i.number('angleDeg'));
    return perHertz === null ? null : perHertz * i.number('shiftHz');
  },
  'dicom.imageTypeFlags': (i) => imageTypeFlags(i.text('value4')),
  'dicom.frameForTime': (i) =>
    i.numbers('rWaveMs').map((time) => frameAt(time, i.number('frameTimeMs'))),
  'loinc.checkDigit': (i) => hasValidCheckDigit(i.text('code')),
};

/**
 * Velocity curves for the checks. Each function maps the elapsed share of the flow time to the
 * velocity as a share of its peak.
 */
const SHAPES: Readonly<Record<string, (share: number) => number>> = {
  triangle: (share) => 1 - Math.abs(2 * share - 1),
  parabola: (share) => 4 * share * (1 - share),
  'half-sine': (share) => Math.sin(Math.PI * share),
};

/** Number of samples at which a sum is close to the integral of the continuous curve. */
const CONTINUOUS = 10_001;

function curve(i: VectorInputs): { samples: number[]; step: number } {
  const shape = known(SHAPES, i.text('shape'));
  const peak = i.number('peakMS');
  const count = i.isText('samples') ? CONTINUOUS : i.number('samples');
  const samples = Array.from({ length: count }, (_, k) => peak * shape(k / (count - 1)));
  return { samples, step: i.number('durationS') / (count - 1) };
}

/** The published wording of a grade; null without a grade. */
const inPublishedWords = <Code extends string>(
  words: Readonly<Record<Code, string>>,
  code: Code | null,
) => code && words[code];

/** The published table excludes sclerosis as well, which a result does not claim. */
const PUBLISHED_STENOSIS = { ...AORTIC_STENOSIS_GRADES, none: 'no stenosis or sclerosis' };

const volumes = (i: VectorInputs) => ({
  orifice: i.optionalNumber('eroaMm2'),
  volume: i.optionalNumber('regurgitantVolumeMl'),
  fraction: i.optionalNumber('regurgitantFractionPercent'),
});

/** Checks on Doppler and valves (echo 11, 17). */
const FLOW_CHECKS: Readonly<Record<string, CheckFormula>> = {
  'doppler.bernoulli': ofNumbers(formulas.pressureGradient, 'velocityMS'),
  'doppler.bernoulliProximalCorrected': ofNumbers(
    formulas.correctedGradient,
    'distalMS',
    'proximalMS',
  ),
  'doppler.vti.trapezoid': (i) => {
    const { samples, step } = curve(i);
    return formulas.velocityTimeIntegral(samples, step);
  },
  'doppler.meanGradient': (i) => {
    const { samples, step } = curve(i);
    return formulas.meanGradient(samples, step);
  },
  'doppler.phtFromDecelerationTime': ofNumbers(
    formulas.halfTimeOfDeceleration,
    'decelerationTimeMs',
  ),
  'doppler.phtFromSlope': ofNumbers(formulas.halfTimeOfSlope, 'peakMS', 'slopeMS2'),
  'doppler.velocityAtPht': ofNumbers(formulas.velocityAtHalfTime, 'peakMS'),
  'doppler.strokeVolume': ofNumbers(formulas.strokeVolume, 'lvotDiameterCm', 'lvotVtiCm'),
  'doppler.cardiacOutput': (i) =>
    formulas.cardiacOutput(
      formulas.strokeVolume(i.number('lvotDiameterCm'), i.number('lvotVtiCm')),
      i.number('heartRate'),
    ),
  'doppler.strokeVolumeIndex': (i) => i.number('strokeVolumeMl') / i.number('bsaM2'),
  'doppler.dpdt.mr': (i) => formulas.pressureRise(1, 3, i.number('interval1to3MSMs')),
  'doppler.dpdt.rv': (i) => formulas.pressureRise(1, 2, i.number('interval1to2MSMs')),
  'av.area.vti': ofNumbers(formulas.continuityArea, 'lvotDiameterCm', 'lvotVtiCm', 'avVtiCm'),
  'av.area.vmax': ofNumbers(formulas.continuityArea, 'lvotDiameterCm', 'lvotVmaxMS', 'avVmaxMS'),
  'av.areaIndex': (i) => i.number('avaCm2') / i.number('bsaM2'),
  'av.dvi': (i) => i.number('lvotVtiCm') / i.number('avVtiCm'),
  'av.zva': ofNumbers(
    formulas.valvuloArterialImpedance,
    'systolicBpMmHg',
    'meanGradientMmHg',
    'sviMlM2',
  ),
  'av.flowRate': ofNumbers(formulas.flowRate, 'strokeVolumeMl', 'ejectionTimeMs'),
  'av.stenosisGrade': (i) =>
    inPublishedWords(
      PUBLISHED_STENOSIS,
      stenosisGrade({
        peak: i.optionalNumber('vmaxMS'),
        meanGradient: i.optionalNumber('meanGradientMmHg'),
        area: i.optionalNumber('avaCm2'),
        areaIndex: i.optionalNumber('avaiCm2M2'),
        strokeIndex: i.optionalNumber('sviMlM2'),
        ef: i.optionalNumber('lvefPercent'),
      }),
    ),
  'pisa.flow': ofNumbers(formulas.pisaFlow, 'radiusCm', 'aliasCmS'),
  'pisa.eroa': ofNumbers(formulas.pisaOrifice, 'radiusCm', 'aliasCmS', 'peakVelocityCmS'),
  'pisa.regurgitantVolume': ofNumbers(formulas.regurgitantVolume, 'eroaCm2', 'vtiCm'),
  'mr.eroaSimplified': ofNumbers(formulas.simplifiedMitralOrifice, 'radiusCm'),
  regurgitantFraction: ofNumbers(
    formulas.regurgitantFraction,
    'regurgitantVolumeMl',
    'totalStrokeVolumeMl',
  ),
  'mr.regurgitantVolume.volumetric': (i) =>
    formulas.volumetricRegurgitation(
      { diameter: i.number('mitralAnnulusDiameterCm'), vti: i.number('mitralAnnulusVtiCm') },
      { diameter: i.number('lvotDiameterCm'), vti: i.number('lvotVtiCm') },
    ),
  'ar.quantGrade': (i) =>
    inPublishedWords(REGURGITATION_GRADES, quantitativeGrade('aortic', volumes(i))),
  'mr.quantGrade': (i) =>
    inPublishedWords(REGURGITATION_GRADES, quantitativeGrade('mitral', volumes(i))),
  'tr.vcGrade': (i) =>
    inPublishedWords(TRICUSPID_GRADES, tricuspidGrade('venaContracta', i.number('biplaneVcMm'))),
  'tr.eroaGrade': (i) =>
    inPublishedWords(TRICUSPID_GRADES, tricuspidGrade('orifice', i.number('eroaMm2'))),
  'ms.area.pht': ofNumbers(formulas.mitralAreaByHalfTime, 'phtMs'),
  'ms.area.dt': ofNumbers(formulas.mitralAreaByDeceleration, 'decelerationTimeMs'),
  'ts.area.pht': ofNumbers(formulas.tricuspidAreaByHalfTime, 'phtMs'),
  'ms.grade.acc2020': (i) =>
    inPublishedWords(MITRAL_STENOSIS_GRADES, mitralStenosis2020(i.number('mvaCm2'))),
  'ms.grade.easease2009': ofNumbers(mitralStenosis2009, 'mvaCm2'),
};

const SEX: Readonly<Record<string, Sex>> = { M: 'male', F: 'female' };
const sexOf = (i: VectorInputs) => known(SEX, i.text('sex'));

const QUANTITIES: Readonly<Record<string, GradedQuantity>> = {
  LVIDd_cm: LEFT_VENTRICLE.diastolicDiameter,
  LVIDs_cm: LEFT_VENTRICLE.systolicDiameter,
  EDVi_ml_m2: LEFT_VENTRICLE.edvIndex,
  ESVi_ml_m2: LEFT_VENTRICLE.esvIndex,
  LVMi_g_m2: LEFT_VENTRICLE.massIndex,
  wall_cm: LEFT_VENTRICLE.wall,
};

const gradeBy: CheckFormula = (i) =>
  abnormalityText(gradeOf(known(QUANTITIES, i.text('parameter')), sexOf(i), i.number('value')));

const grade =
  (quantity: GradedQuantity, name: string): CheckFormula =>
  (i) =>
    abnormalityText(gradeOf(quantity, sexOf(i), i.number(name)));

const bodySurface =
  (formula: keyof typeof formulas.BODY_SURFACE_AREA): CheckFormula =>
  (i) =>
    formulas.BODY_SURFACE_AREA[formula](i.number('heightCm'), i.number('weightKg'));

const quotient =
  (over: string, under: string): CheckFormula =>
  (i) =>
    i.number(over) / i.number(under);

const biplane: CheckFormula = (i) =>
  formulas.biplaneDiscVolume(
    i.numbers('a4cDiametersCm'),
    i.numbers('a2cDiametersCm'),
    i.number('lengthCm'),
  );

const veinRatio = (i: VectorInputs) =>
  i.optionalNumber('pvSOverD') ?? i.optionalNumber('pulmonaryVeinSD');

/**
 * Returns whether the LVEF is reduced: as stated in the check's input or, if not stated, from the
 * LVEF itself.
 */
const reducedEf = (i: VectorInputs) =>
  i.optionalFlag('lvefReduced') ?? (i.optionalNumber('lvefPercent') ?? 100) < 50;

const diastolic2016 = (i: VectorInputs): Diastolic2016 => ({
  averageRatio: i.optionalNumber('eOverEprimeAverage'),
  septalRatio: i.optionalNumber('eOverEprimeSeptal'),
  lateralRatio: i.optionalNumber('eOverEprimeLateral'),
  septal: i.optionalNumber('septalEprimeCmS'),
  lateral: i.optionalNumber('lateralEprimeCmS'),
  jet: i.optionalNumber('trVmaxMS'),
  atrialIndex: i.optionalNumber('laviMlM2'),
});

/**
 * Checks on the left ventricle and atrium, strain, wall motion and diastole (echo 1 to 10, 14, 15).
 */
const LEFT_HEART_CHECKS: Readonly<Record<string, CheckFormula>> = {
  'bsa.dubois': bodySurface('dubois'),
  'bsa.mosteller': bodySurface('mosteller'),
  'bsa.haycock': bodySurface('haycock'),
  'lv.volume.modSinglePlane': (i) =>
    formulas.discVolume(i.numbers('diametersCm'), i.number('lengthCm')),
  'lv.volume.modBiplane': biplane,
  'lv.volume.areaLengthSinglePlane': ofNumbers(formulas.areaLengthVolume, 'areaCm2', 'lengthCm'),
  'lv.volume.bullet': ofNumbers(formulas.bulletVolume, 'saxAreaCm2', 'lengthCm'),
  'lv.volume.teichholz': ofNumbers(formulas.teichholzVolume, 'lvidCm'),
  'lv.ef': ofNumbers(formulas.fractionalChange, 'edvMl', 'esvMl'),
  'lv.ef.teichholz': ofNumbers(formulas.teichholzEjection, 'lviddCm', 'lvidsCm'),
  'lv.strokeVolume.volumetric': (i) => i.number('edvMl') - i.number('esvMl'),
  'lv.edvIndex': quotient('edvMl', 'bsaM2'),
  'lv.ef.category.ase2015': grade(EJECTION_FRACTION, 'efPercent'),
  'hf.phenotypeRange': (i) =>
    heartFailureText(heartFailureRange(i.number('efPercent'), i.optionalNumber('priorEfPercent'))),
  'lv.mass.cube': ofNumbers(formulas.cubeMass, 'ivsdCm', 'lviddCm', 'lvpwdCm'),
  'lv.mass.areaLength': ofNumbers(
    formulas.areaLengthMass,
    'epiAreaCm2',
    'endoAreaCm2',
    'lengthCm',
    'meanWallThicknessCm',
  ),
  'lv.massIndex': quotient('massG', 'bsaM2'),
  'lv.rwt': ofNumbers(formulas.relativeWallThickness, 'lvpwdCm', 'lviddCm'),
  'lv.fractionalShortening': ofNumbers(formulas.fractionalChange, 'lviddCm', 'lvidsCm'),
  'lv.geometry': (i) =>
    geometryText(geometryOf(sexOf(i), i.number('lvMassIndexGM2'), i.number('rwt'))),
  'lv.sizeGrade.ase2015': gradeBy,
  'lv.massGrade': gradeBy,
  'la.volume.areaLengthBiplane': ofNumbers(
    formulas.biplaneAreaLengthVolume,
    'a4cAreaCm2',
    'a2cAreaCm2',
    'shorterLengthCm',
  ),
  'la.volume.modBiplane': biplane,
  'la.volumeIndex': quotient('volumeMl', 'bsaM2'),
  'la.laviGrade': grade(LEFT_ATRIUM.volumeIndex, 'laviMlM2'),
  'la.apDiameterGrade': grade(LEFT_ATRIUM.diameter, 'diameterCm'),
  'strain.lagrangian': ofNumbers(formulas.lagrangianStrain, 'l0Cm', 'lCm'),
  'strain.gls.mean3': (i) =>
    formulas.globalStrain([i.number('a4c'), i.number('a2c'), i.number('a3c')]),
  'strain.relativeReduction': ofNumbers(formulas.relativeReduction, 'baseline', 'current'),
  'strain.glsBand.ase2025': ofNumbers(strainBand, 'glsPercent'),
  relaps: (i) =>
    formulas.relativeApicalStrain(i.numbers('apical'), i.numbers('mid'), i.numbers('basal')),
  'relaps.apicalSparing': (i) => i.number('relaps') >= APICAL_SPARING,
  wmsi: (i) => formulas.scoreIndex(i.numbers('scores')),
  'segments.territory.aha2002': (i) => {
    const artery = ARTERIES.find((name) => name === i.text('artery'));
    return artery ? territoryOf(artery) : null;
  },
  'diastolic.ase2016.algorithmA': (i) => gradeText({ result: algorithm2016A(diastolic2016(i)) }),
  'diastolic.ase2016.algorithmB': (i) =>
    gradeText({
      result: algorithm2016B({
        ...diastolic2016(i),
        ratio: i.optionalNumber('eOverA'),
        early: i.optionalNumber('eCmS'),
        veinRatio: veinRatio(i),
        reducedEf: reducedEf(i),
      }),
    }),
  'diastolic.ase2025.lap': (i) =>
    gradeText({
      result: algorithm2025({
        septal: i.optionalNumber('septalEprimeCmS'),
        lateral: i.optionalNumber('lateralEprimeCmS'),
        early: i.optionalNumber('eCmS'),
        ratio: i.optionalNumber('eOverA'),
        jet: i.optionalNumber('trVmaxMS'),
        systolicPressure: i.optionalNumber('paspMmHg'),
        atrialIndex: i.optionalNumber('laviMlM2'),
        veinRatio: veinRatio(i),
        reservoirStrain: i.optionalNumber('larsPercent'),
        relaxationTime: i.optionalNumber('ivrtMs'),
      }),
    }),
  'diastolic.eOverEprimeAverage': ofNumbers(earlyOverAnnular, 'eCmS', 'septalCmS', 'lateralCmS'),
  'hcm.wallThickness': (i) =>
    wallText(wallStatement(i.number('maxMm'), i.optionalFlag('relativeOrGenotypePositive'))),
  'lvoto.category': (i) =>
    obstructionText(obstructionCategory(i.number('restMmHg'), i.optionalNumber('provokedMmHg'))),
  'focused.efBand': (i) => focusedBandText(focusedBand(i.number('efPercent'))),
};

const isCategory = (text: string): text is SignCategory => ['A', 'B', 'C'].includes(text);

const variation: CheckFormula = ofNumbers(
  respiratoryVariation,
  'eExpirationCmS',
  'eInspirationCmS',
);

/** Checks on the right heart, pulmonary pressure and pericardium (echo 7, 12, 13). */
const RIGHT_HEART_CHECKS: Readonly<Record<string, CheckFormula>> = {
  'rv.fac': ofNumbers(formulas.fractionalChange, 'edaCm2', 'esaCm2'),
  'rv.rimp': ofNumbers(formulas.performanceIndex, 'tcoMs', 'ejectionTimeMs'),
  'rv.lvEccentricityIndex': ofNumbers(
    formulas.eccentricityIndex,
    'dParallelCm',
    'dPerpendicularCm',
  ),
  'rv.basalDilated.ase2015': (i) => isBeyond(RV_SIZE.basal, i.number('rvBasalMm')),
  'rv.tapseAbnormal.ase2015': (i) => isBeyond(RV_FUNCTION.tapse, i.number('tapseMm')),
  'rv.sPrimeAbnormal.ase2015': (i) => isBeyond(RV_FUNCTION.sPrime, i.number('sPrimeCmS')),
  'rv.facAbnormal.ase2015': (i) => isBeyond(RV_FUNCTION.fac, i.number('facPercent')),
  'ra.pressureFromIvc': ofNumbers(atrialPressure, 'ivcMm', 'collapsePercent'),
  'ivc.collapsibility': ofNumbers(formulas.fractionalChange, 'maxMm', 'minMm'),
  rvsp: ofNumbers(formulas.pressureBehindJet, 'trvMS', 'rapMmHg'),
  'pa.meanFromSystolic': ofNumbers(formulas.meanPulmonaryBySystolic, 'spapMmHg'),
  'pa.meanFromAcceleration': ofNumbers(formulas.meanPulmonaryByAcceleration, 'rvotAtMs'),
  'pa.meanFromAccelerationShort': ofNumbers(formulas.meanPulmonaryByShortAcceleration, 'rvotAtMs'),
  'pa.meanFromPr': ofNumbers(formulas.pressureBehindJet, 'prEarlyMS', 'rapMmHg'),
  'pa.diastolicFromPr': ofNumbers(formulas.pressureBehindJet, 'prEndMS', 'rapMmHg'),
  'pvr.abbas': ofNumbers(formulas.vascularResistance, 'trvMS', 'rvotVtiCm'),
  tapseSpapRatio: (i) => i.number('tapseMm') / i.number('spapMmHg'),
  'ph.probability.esc2022': (i) =>
    probability(i.optionalNumber('trvMS'), i.texts('signCategoriesPresent').filter(isCategory)),
  'pericardium.effusionGrade': (i) => effusionText(effusionGrade(i.number('maxDiastolicMm'))),
  'tamponade.mitralVariation': variation,
  'tamponade.tricuspidVariation': variation,
};

/** Maps each formula name in `echo-checks.json` to the function that it checks. */
export const ECHO_CHECKS: Readonly<Record<string, CheckFormula>> = {
  ...DICOM_CHECKS,
  ...LEFT_HEART_CHECKS,
  ...FLOW_CHECKS,
  ...RIGHT_HEART_CHECKS,
};
