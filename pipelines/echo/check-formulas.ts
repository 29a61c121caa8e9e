import { hasValidCheckDigit } from '../concepts/coding.ts';
import { type CheckFormula, known, type VectorInputs } from '../contract/vector-inputs.ts';
import { imageTypeFlags } from '../input/dicom/clip.ts';
import { velocityOfShift } from '../input/dicom/regions.ts';
import { distance } from '../measure/ellipse.ts';
import { valueAt } from '../measure/m-mode/plane.ts';
import { obstructionText, wallText } from '../result/render/echo/cardiomyopathy.ts';
import { MITRAL_STENOSIS_GRADES, REGURGITATION_GRADES } from '../result/render/echo/shared.ts';
import { AORTIC_STENOSIS_GRADES, TRICUSPID_GRADES } from '../result/render/echo/valves.ts';
import { obstructionCategory, wallStatement } from './cardiomyopathy/guideline.ts';
import { algorithm2016A, algorithm2016B, type Diastolic2016 } from './diastolic/guideline-2016.ts';
import { algorithm2025, earlyOverAnnular } from './diastolic/guideline-2025.ts';
import { focusedBand } from './focused/guideline.ts';
import {
  areaLengthMass,
  areaLengthVolume,
  BODY_SURFACE_AREA,
  biplaneAreaLengthVolume,
  biplaneDiscVolume,
  bulletVolume,
  cardiacOutput,
  continuityArea,
  correctedGradient,
  cubeMass,
  discVolume,
  eccentricityIndex,
  flowRate,
  fractionalChange,
  globalStrain,
  halfTimeOfDeceleration,
  halfTimeOfSlope,
  lagrangianStrain,
  meanGradient,
  meanPulmonaryByAcceleration,
  meanPulmonaryByShortAcceleration,
  meanPulmonaryBySystolic,
  mitralAreaByDeceleration,
  mitralAreaByHalfTime,
  performanceIndex,
  pisaFlow,
  pisaOrifice,
  pressureBehindJet,
  pressureGradient,
  pressureRise,
  regurgitantFraction,
  regurgitantVolume,
  relativeApicalStrain,
  relativeReduction,
  relativeWallThickness,
  scoreIndex,
  simplifiedMitralOrifice,
  strokeVolume,
  teichholzEjection,
  teichholzVolume,
  tricuspidAreaByHalfTime,
  valvuloArterialImpedance,
  vascularResistance,
  velocityAtHalfTime,
  velocityTimeIntegral,
  volumetricRegurgitation,
} from './formulas.ts';
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
  'ar.quantGrade': (i) =>
    inPublishedWords(REGURGITATION_GRADES, quantitativeGrade('aortic', volumes(i))),
  'mr.quantGrade': (i) =>
    inPublishedWords(REGURGITATION_GRADES, quantitativeGrade('mitral', volumes(i))),
  'tr.vcGrade': (i) =>
    inPublishedWords(TRICUSPID_GRADES, tricuspidGrade('venaContracta', i.number('biplaneVcMm'))),
  'tr.eroaGrade': (i) =>
    inPublishedWords(TRICUSPID_GRADES, tricuspidGrade('orifice', i.number('eroaMm2'))),
  'ms.area.pht': (i) => mitralAreaByHalfTime(i.number('phtMs')),
  'ms.area.dt': (i) => mitralAreaByDeceleration(i.number('decelerationTimeMs')),
  'ts.area.pht': (i) => tricuspidAreaByHalfTime(i.number('phtMs')),
  'ms.grade.acc2020': (i) =>
    inPublishedWords(MITRAL_STENOSIS_GRADES, mitralStenosis2020(i.number('mvaCm2'))),
  'ms.grade.easease2009': (i) => mitralStenosis2009(i.number('mvaCm2')),
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
  gradeOf(known(QUANTITIES, i.text('parameter')), sexOf(i), i.number('value'));

const grade =
  (quantity: GradedQuantity, name: string): CheckFormula =>
  (i) =>
    gradeOf(quantity, sexOf(i), i.number(name));

const bodySurface =
  (formula: keyof typeof BODY_SURFACE_AREA): CheckFormula =>
  (i) =>
    BODY_SURFACE_AREA[formula](i.number('heightCm'), i.number('weightKg'));

const quotient =
  (over: string, under: string): CheckFormula =>
  (i) =>
    i.number(over) / i.number(under);

const biplane: CheckFormula = (i) =>
  biplaneDiscVolume(i.numbers('a4cDiametersCm'), i.numbers('a2cDiametersCm'), i.number('lengthCm'));

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
  'lv.volume.modSinglePlane': (i) => discVolume(i.numbers('diametersCm'), i.number('lengthCm')),
  'lv.volume.modBiplane': biplane,
  'lv.volume.areaLengthSinglePlane': (i) =>
    areaLengthVolume(i.number('areaCm2'), i.number('lengthCm')),
  'lv.volume.bullet': (i) => bulletVolume(i.number('saxAreaCm2'), i.number('lengthCm')),
  'lv.volume.teichholz': (i) => teichholzVolume(i.number('lvidCm')),
  'lv.ef': (i) => fractionalChange(i.number('edvMl'), i.number('esvMl')),
  'lv.ef.teichholz': (i) => teichholzEjection(i.number('lviddCm'), i.number('lvidsCm')),
  'lv.strokeVolume.volumetric': (i) => i.number('edvMl') - i.number('esvMl'),
  'lv.edvIndex': quotient('edvMl', 'bsaM2'),
  'lv.ef.category.ase2015': grade(EJECTION_FRACTION, 'efPercent'),
  'hf.phenotypeRange': (i) =>
    heartFailureRange(i.number('efPercent'), i.optionalNumber('priorEfPercent')),
  'lv.mass.cube': (i) => cubeMass(i.number('ivsdCm'), i.number('lviddCm'), i.number('lvpwdCm')),
  'lv.mass.areaLength': (i) =>
    areaLengthMass(
      i.number('epiAreaCm2'),
      i.number('endoAreaCm2'),
      i.number('lengthCm'),
      i.number('meanWallThicknessCm'),
    ),
  'lv.massIndex': quotient('massG', 'bsaM2'),
  'lv.rwt': (i) => relativeWallThickness(i.number('lvpwdCm'), i.number('lviddCm')),
  'lv.fractionalShortening': (i) => fractionalChange(i.number('lviddCm'), i.number('lvidsCm')),
  'lv.geometry': (i) => geometryOf(sexOf(i), i.number('lvMassIndexGM2'), i.number('rwt')),
  'lv.sizeGrade.ase2015': gradeBy,
  'lv.massGrade': gradeBy,
  'la.volume.areaLengthBiplane': (i) =>
    biplaneAreaLengthVolume(
      i.number('a4cAreaCm2'),
      i.number('a2cAreaCm2'),
      i.number('shorterLengthCm'),
    ),
  'la.volume.modBiplane': biplane,
  'la.volumeIndex': quotient('volumeMl', 'bsaM2'),
  'la.laviGrade': grade(LEFT_ATRIUM.volumeIndex, 'laviMlM2'),
  'la.apDiameterGrade': grade(LEFT_ATRIUM.diameter, 'diameterCm'),
  'strain.lagrangian': (i) => lagrangianStrain(i.number('l0Cm'), i.number('lCm')),
  'strain.gls.mean3': (i) => globalStrain([i.number('a4c'), i.number('a2c'), i.number('a3c')]),
  'strain.relativeReduction': (i) => relativeReduction(i.number('baseline'), i.number('current')),
  'strain.glsBand.ase2025': (i) => strainBand(i.number('glsPercent')),
  relaps: (i) => relativeApicalStrain(i.numbers('apical'), i.numbers('mid'), i.numbers('basal')),
  'relaps.apicalSparing': (i) => i.number('relaps') >= APICAL_SPARING,
  wmsi: (i) => scoreIndex(i.numbers('scores')),
  'segments.territory.aha2002': (i) => {
    const artery = ARTERIES.find((name) => name === i.text('artery'));
    return artery ? territoryOf(artery) : null;
  },
  'diastolic.ase2016.algorithmA': (i) => algorithm2016A(diastolic2016(i)),
  'diastolic.ase2016.algorithmB': (i) =>
    algorithm2016B({
      ...diastolic2016(i),
      ratio: i.optionalNumber('eOverA'),
      early: i.optionalNumber('eCmS'),
      veinRatio: veinRatio(i),
      reducedEf: reducedEf(i),
    }),
  'diastolic.ase2025.lap': (i) =>
    algorithm2025({
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
  'diastolic.eOverEprimeAverage': (i) =>
    earlyOverAnnular(i.number('eCmS'), i.number('septalCmS'), i.number('lateralCmS')),
  'hcm.wallThickness': (i) =>
    wallText(wallStatement(i.number('maxMm'), i.optionalFlag('relativeOrGenotypePositive'))),
  'lvoto.category': (i) =>
    obstructionText(obstructionCategory(i.number('restMmHg'), i.optionalNumber('provokedMmHg'))),
  'focused.efBand': (i) => focusedBand(i.number('efPercent')),
};

const isCategory = (text: string): text is SignCategory => ['A', 'B', 'C'].includes(text);

const variation: CheckFormula = (i) =>
  respiratoryVariation(i.number('eExpirationCmS'), i.number('eInspirationCmS'));

/** Checks on the right heart, pulmonary pressure and pericardium (echo 7, 12, 13). */
const RIGHT_HEART_CHECKS: Readonly<Record<string, CheckFormula>> = {
  'rv.fac': (i) => fractionalChange(i.number('edaCm2'), i.number('esaCm2')),
  'rv.rimp': (i) => performanceIndex(i.number('tcoMs'), i.number('ejectionTimeMs')),
  'rv.lvEccentricityIndex': (i) =>
    eccentricityIndex(i.number('dParallelCm'), i.number('dPerpendicularCm')),
  'rv.basalDilated.ase2015': (i) => isBeyond(RV_SIZE.basal, i.number('rvBasalMm')),
  'rv.tapseAbnormal.ase2015': (i) => isBeyond(RV_FUNCTION.tapse, i.number('tapseMm')),
  'rv.sPrimeAbnormal.ase2015': (i) => isBeyond(RV_FUNCTION.sPrime, i.number('sPrimeCmS')),
  'rv.facAbnormal.ase2015': (i) => isBeyond(RV_FUNCTION.fac, i.number('facPercent')),
  'ra.pressureFromIvc': (i) => atrialPressure(i.number('ivcMm'), i.number('collapsePercent')),
  'ivc.collapsibility': (i) => fractionalChange(i.number('maxMm'), i.number('minMm')),
  rvsp: (i) => pressureBehindJet(i.number('trvMS'), i.number('rapMmHg')),
  'pa.meanFromSystolic': (i) => meanPulmonaryBySystolic(i.number('spapMmHg')),
  'pa.meanFromAcceleration': (i) => meanPulmonaryByAcceleration(i.number('rvotAtMs')),
  'pa.meanFromAccelerationShort': (i) => meanPulmonaryByShortAcceleration(i.number('rvotAtMs')),
  'pa.meanFromPr': (i) => pressureBehindJet(i.number('prEarlyMS'), i.number('rapMmHg')),
  'pa.diastolicFromPr': (i) => pressureBehindJet(i.number('prEndMS'), i.number('rapMmHg')),
  'pvr.abbas': (i) => vascularResistance(i.number('trvMS'), i.number('rvotVtiCm')),
  tapseSpapRatio: (i) => i.number('tapseMm') / i.number('spapMmHg'),
  'ph.probability.esc2022': (i) =>
    probability(i.optionalNumber('trvMS'), i.texts('signCategoriesPresent').filter(isCategory)),
  'pericardium.effusionGrade': (i) => effusionGrade(i.number('maxDiastolicMm')),
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
