import type { Chart } from './coding.ts';

/** The charts of the obstetric endpoint, each with its version. */
export const OBSTETRIC_CHARTS = {
  'intergrowth-2020-umbilical-artery': {
    name: 'INTERGROWTH-21st umbilical artery Doppler 2020 (singleton)',
    citation: 'Drukker et al., Am J Obstet Gynecol 2020;222:602.e1-602.e15',
  },
  'fmf-2019-doppler': {
    name: 'FMF fetal Doppler 2019 (singleton)',
    citation: 'Ciobanu et al., Ultrasound Obstet Gynecol 2019;53:465-472',
  },
  'gomez-2008-uterine-artery': {
    name: 'Uterine artery mean PI 2008 (singleton)',
    citation: 'Gomez et al., Ultrasound Obstet Gynecol 2008;32:128-132',
  },
  'mari-2000-mca-psv': {
    name: 'Middle cerebral artery peak systolic velocity 2000',
    citation: 'Mari et al., N Engl J Med 2000;342:9-14',
  },
  'intergrowth-2020-brain': {
    name: 'INTERGROWTH-21st fetal brain structures 2020 (singleton)',
    citation: 'Napolitano et al., Ultrasound Obstet Gynecol 2020;56:359-370',
  },
  'intergrowth-2021-tcd': {
    name: 'INTERGROWTH-21st transcerebellar diameter 2021 (singleton)',
    citation: 'Rodriguez-Sibaja et al., Ultrasound Obstet Gynecol 2021;57:614-623',
  },
  'fmf-nuchal-translucency': {
    name: 'FMF nuchal translucency, 95th centile by CRL',
    citation: 'Spencer et al., Ultrasound Obstet Gynecol 2003;22:142-148',
  },
  'intergrowth-2014-size': {
    name: 'INTERGROWTH-21st fetal growth standards 2014 (singleton)',
    citation: 'Papageorghiou et al., Lancet 2014;384:869-879',
  },
  'intergrowth-2017-efw': {
    name: 'INTERGROWTH-21st estimated fetal weight 2017 (HC, AC; singleton)',
    citation: 'Stirnemann et al., Ultrasound Obstet Gynecol 2017;49:478-486',
  },
  'intergrowth-2020-efw': {
    name: 'INTERGROWTH-21st estimated fetal weight 2020 (Hadlock HC, AC, FL; singleton)',
    citation: 'Stirnemann et al., Ultrasound Obstet Gynecol 2020;56:946-948',
  },
  'moore-cayle-1990': {
    name: 'Moore and Cayle 1990, 5th and 95th centile of the AFI',
    citation: 'Moore and Cayle, Am J Obstet Gynecol 1990;162:1168-1173',
  },
} as const satisfies Record<string, Chart>;

export type ObstetricChart = keyof typeof OBSTETRIC_CHARTS;
