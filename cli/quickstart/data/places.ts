// Countries and cities of the demo data; telephone numbers lie in ranges that regulators reserve for fiction.
import { CULTURES, type CultureName } from './names.ts';

/** The sound of coined company names. */
export type NameStyle = 'english' | 'northern' | 'romance' | 'slavic' | 'eastern' | 'southern';

export interface City {
  readonly name: string;
  readonly state: string | null;
  /** A pattern in which `#` is any digit; null where no range is reserved for fiction. */
  readonly phone: string | null;
}

export interface Country {
  readonly name: string;
  /** How often it is chosen, relative to the others. */
  readonly weight: number;
  readonly currency: string;
  readonly timezone: string;
  readonly style: NameStyle;
  /** Legal forms that end company names. */
  readonly forms: readonly string[];
  readonly cultures: readonly (readonly [CultureName, weight: number])[];
  readonly cities: readonly City[];
}

// Country: weight, currency, time zone, style of names / legal forms / cultures / cities.
const TABLE = `
United States: 12, USD, America/New_York, english / Inc., LLC, Corp.
/ english 6, spanish 3, indian 2, chinese 1, korean 1, nigerian 1
/ Boston = Massachusetts = +1 617 555 01##, Austin = Texas = +1 512 555 01##, Denver = Colorado = +1 303 555 01##,
  Seattle = Washington = +1 206 555 01##, Chicago = Illinois = +1 312 555 01##, Atlanta = Georgia = +1 404 555 01##
;
Canada: 4, CAD, America/Toronto, english / Inc., Ltd.
/ english 3, french 2, indian 1, chinese 1
/ Toronto = Ontario = +1 416 555 01##, Vancouver = British Columbia = +1 604 555 01##,
  Montréal = Québec = +1 514 555 01##
;
United Kingdom: 11, GBP, Europe/London, english / Ltd, plc, LLP
/ english 8, indian 2, irish 1, arabic 1, nigerian 1
/ London = Greater London = +44 20 7946 0###, Manchester = Greater Manchester = +44 161 496 0###,
  Bristol = Bristol = +44 117 496 0###, Leeds = West Yorkshire = +44 113 496 0###,
  Edinburgh = Scotland = +44 131 496 0###
;
Ireland: 2, EUR, Europe/Dublin, english / Ltd, DAC
/ irish 5, english 2, polish 1
/ Dublin = Leinster = +353 20 91# ####, Cork = Munster = +353 20 91# ####, Galway = Connacht = +353 20 91# ####
;
Germany: 8, EUR, Europe/Berlin, northern / GmbH, AG, KG
/ german 8, turkish 2, polish 1
/ Berlin = Berlin = +49 30 23125 ###, Hamburg = Hamburg = +49 40 66969 ###, München = Bayern = +49 89 99998 ###,
  Köln = Nordrhein-Westfalen = +49 221 4710 ###, Frankfurt am Main = Hessen = +49 69 90009 ###
;
France: 6, EUR, Europe/Paris, romance / SAS, SARL, SA
/ french 8, arabic 2, portuguese 1
/ Paris = Île-de-France = +33 1 99 00 ## ##, Nantes = Pays de la Loire = +33 2 61 91 ## ##,
  Lille = Hauts-de-France = +33 3 53 01 ## ##, Lyon = Auvergne-Rhône-Alpes = +33 4 65 71 ## ##,
  Toulouse = Occitanie = +33 5 36 49 ## ##
;
Sweden: 4, SEK, Europe/Stockholm, northern / AB
/ nordic 6, finnish 1, arabic 1
/ Stockholm = Stockholm = +46 8 465 004 ##, Göteborg = Västra Götaland = +46 31 390 06 ##,
  Malmö = Skåne = +46 40 628 04 ##
;
Australia: 4, AUD, Australia/Sydney, english / Pty Ltd
/ english 4, chinese 1, italian 1, indian 1
/ Sydney = New South Wales = +61 2 5550 ####, Melbourne = Victoria = +61 3 5550 ####,
  Brisbane = Queensland = +61 7 5550 ####, Perth = Western Australia = +61 8 5550 ####
;
Netherlands: 4, EUR, Europe/Amsterdam, northern / B.V., N.V. / dutch 6, turkish 1 / Amsterdam, Rotterdam, Utrecht;
Spain: 4, EUR, Europe/Madrid, romance / S.L., S.A. / spanish 1 / Madrid, València, Bilbao, Málaga;
Italy: 4, EUR, Europe/Rome, romance / S.r.l., S.p.A. / italian 1 / Milano, Torino, Bologna;
Portugal: 2, EUR, Europe/Lisbon, romance / Lda., S.A. / portuguese 1 / Lisboa, Porto, Braga;
Norway: 2, NOK, Europe/Oslo, northern / AS, ASA / nordic 1 / Oslo, Bergen, Trondheim;
Denmark: 2, DKK, Europe/Copenhagen, northern / ApS, A/S / nordic 1 / København, Aarhus;
Finland: 2, EUR, Europe/Helsinki, northern / Oy / finnish 6, nordic 1 / Helsinki, Tampere, Turku;
Poland: 3, PLN, Europe/Warsaw, slavic / sp. z o.o., S.A. / polish 1 / Warszawa, Kraków, Gdańsk, Łódź;
Czechia: 2, CZK, Europe/Prague, slavic / s.r.o., a.s. / czech 1 / Praha, Brno;
Türkiye: 2, TRY, Europe/Istanbul, southern / A.Ş., Ltd. Şti. / turkish 1 / İstanbul, İzmir;
United Arab Emirates: 2, AED, Asia/Dubai, southern / LLC, FZE / arabic 3, indian 3, english 1 / Dubai, Abu Dhabi;
India: 4, INR, Asia/Kolkata, southern / Pvt. Ltd., Ltd. / indian 1 / Bengaluru, Pune, Chennai, Mumbai;
Singapore: 2, SGD, Asia/Singapore, eastern / Pte. Ltd. / chinese 4, indian 2, english 1 / Singapore;
Japan: 3, JPY, Asia/Tokyo, eastern / K.K., Co., G.K. / japanese 1 / Tokyo, Osaka, Nagoya, Fukuoka;
South Korea: 2, KRW, Asia/Seoul, eastern / Co., Ltd. / korean 1 / Seoul, Busan;
Brazil: 3, BRL, America/Sao_Paulo, romance / Ltda., S.A. / portuguese 5, italian 1, japanese 1 / São Paulo, Curitiba, Recife;
Mexico: 2, MXN, America/Mexico_City, romance / S.A. de C.V. / spanish 1 / Ciudad de México, Monterrey, Mérida;
Nigeria: 2, NGN, Africa/Lagos, southern / Ltd, plc / nigerian 1 / Lagos, Abuja;
Kenya: 2, KES, Africa/Nairobi, southern / Ltd / kenyan 6, indian 1 / Nairobi, Mombasa;
South Africa: 2, ZAR, Africa/Johannesburg, southern / (Pty) Ltd / southern_african 4, english 1, indian 1 / Cape Town, Durban
`;

/** The countries, each chosen in proportion to its weight. */
export const COUNTRIES: readonly Country[] = TABLE.split(';').map(parseCountry);

function parseCountry(entry: string): Country {
  const colon = entry.indexOf(':');
  const [traits = '', forms = '', cultures = '', cities = ''] = entry.slice(colon + 1).split(/\s\/\s/);
  const [weight, currency = '', timezone = '', style = ''] = items(traits);
  return {
    name: entry.slice(0, colon).trim(),
    weight: Number(weight),
    currency,
    timezone,
    style: style as NameStyle,
    forms: items(forms),
    cultures: items(cultures).map(parseCulture),
    cities: items(cities).map(parseCity),
  };
}

function parseCulture(entry: string): readonly [CultureName, number] {
  const [name = '', weight] = entry.split(' ');
  if (!(name in CULTURES)) throw new Error(`no culture is called ${name}`);
  return [name as CultureName, Number(weight)];
}

function parseCity(entry: string): City {
  const [name = '', state = null, phone = null] = entry.split(' = ');
  return { name, state, phone };
}

function items(list: string): string[] {
  return list
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}
