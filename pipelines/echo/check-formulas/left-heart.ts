import { type CheckFormula, known, type VectorInputs } from '../../contract/vector-inputs.ts';
import { BODY_SURFACE_AREA } from '../formulas/body.ts';
import {
  areaLengthMass,
  areaLengthVolume,
  biplaneAreaLengthVolume,
  biplaneDiscVolume,
  bulletVolume,
  cubeMass,
  discVolume,
  fractionalChange,
  relativeWallThickness,
  teichholzVolume,
} from '../formulas/chambers.ts';
import {
  globalStrain,
  lagrangianStrain,
  relativeApicalStrain,
  relativeReduction,
  scoreIndex,
} from '../formulas/strain.ts';
import { obstructionCategory, wallStatement } from '../guidelines/cardiomyopathy.ts';
import {
  algorithm2016A,
  algorithm2016B,
  type Diastolic2016,
} from '../guidelines/diastolic-2016.ts';
import { algorithm2025 } from '../guidelines/diastolic-2025.ts';
import { focusedBand } from '../guidelines/focused.ts';
import { LEFT_ATRIUM } from '../guidelines/left-atrium.ts';
import { geometryOf, heartFailureRange, LEFT_VENTRICLE } from '../guidelines/left-ventricle.ts';
import { type GradedQuantity, gradeOf, type Sex } from '../guidelines/partition.ts';
import { APICAL_SPARING, strainBand } from '../guidelines/strain.ts';
import { ARTERIES, territoryOf } from '../guidelines/wall-motion.ts';

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

const diastolic2016 = (i: VectorInputs): Diastolic2016 => ({
  averageRatio: i.optionalNumber('eOverEprimeAverage'),
  septalRatio: i.optionalNumber('eOverEprimeSeptal'),
  lateralRatio: i.optionalNumber('eOverEprimeLateral'),
  septal: i.optionalNumber('septalEprimeCmS'),
  lateral: i.optionalNumber('lateralEprimeCmS'),
  jet: i.optionalNumber('trVmaxMS'),
  atrialIndex: i.optionalNumber('laviMlM2'),
});

/** Left ventricle and atrium, strain, wall motion, diastole (reference 1 to 10, 14, 15). */
export const LEFT_HEART_CHECKS: Readonly<Record<string, CheckFormula>> = {
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
  'lv.ef.teichholz': (i) =>
    fractionalChange(teichholzVolume(i.number('lviddCm')), teichholzVolume(i.number('lvidsCm'))),
  'lv.strokeVolume.volumetric': (i) => i.number('edvMl') - i.number('esvMl'),
  'lv.edvIndex': quotient('edvMl', 'bsaM2'),
  'lv.ef.category.ase2015': grade(LEFT_VENTRICLE.ef, 'efPercent'),
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
      veinRatio: i.optionalNumber('pvSOverD'),
      reducedEf: (i.optionalNumber('lvefPercent') ?? 100) < 50,
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
      veinRatio: i.optionalNumber('pvSOverD'),
      reservoirStrain: i.optionalNumber('larsPercent'),
      relaxationTime: i.optionalNumber('ivrtMs'),
    }),
  'diastolic.eOverEprimeAverage': (i) =>
    i.number('eCmS') / ((i.number('septalCmS') + i.number('lateralCmS')) / 2),
  'hcm.wallThickness': (i) =>
    wallStatement(i.number('maxMm'), i.optionalFlag('relativeOrGenotypePositive')),
  'lvoto.category': (i) =>
    obstructionCategory(i.number('restMmHg'), i.optionalNumber('provokedMmHg')),
  'focused.efBand': (i) => focusedBand(i.number('efPercent')),
};
