// What the companies of the demo data do, and what they buy.

export interface Industry {
  readonly name: string;
  /** Words that end company names. */
  readonly trades: readonly string[];
  /** Places that can be monitored, plural. */
  readonly sites: readonly string[];
  /** Typical headcount; a company has between a fifth and five times as many. */
  readonly headcount: number;
  /** Yearly revenue per head, in EUR. */
  readonly revenuePerHead: number;
  /** Job titles met in this industry only. */
  readonly titles: readonly string[];
}

// Industry / trades / sites / headcount / revenue per head / titles.
const TABLE = `
Logistics / Logistics, Freight, Haulage, Shipping / warehouses, depots, cold stores / 180 / 190000 / Fleet Manager, Warehouse Manager, Cold Chain Lead
Food & Beverage / Foods, Brewing, Dairy, Bakeries, Coffee / production lines, cold rooms, bottling halls / 220 / 240000 / Head Brewer, Food Safety Manager, Plant Manager
Manufacturing / Castings, Tooling, Precision, Fasteners, Ceramics / plants, machine halls, kilns / 320 / 210000 / Plant Manager, Maintenance Lead, Production Planner
Healthcare / Clinics, Dental, Diagnostics, Care / clinics, laboratories, vaccine fridges / 140 / 120000 / Practice Manager, Head of Laboratory, Ward Manager
Pharmaceuticals / Pharma, Biologics, Therapeutics / clean rooms, storage halls, freezers / 260 / 380000 / Quality Assurance Manager, Validation Engineer, GxP Lead
Energy / Energy, Solar, Wind, Grid / substations, solar parks, turbine sites / 200 / 420000 / Asset Manager, Grid Engineer, Head of Renewables
Construction / Construction, Builders, Timber, Interiors / building sites, yards, offices / 110 / 230000 / Site Manager, Estimator, Project Director
Retail / Stores, Outfitters, Market, Home / shops, stock rooms, cold counters / 400 / 170000 / Store Operations Manager, Merchandising Lead, Regional Manager
Software / Software, Systems, Labs, Data / server rooms, offices / 90 / 180000 / VP Engineering, Site Reliability Lead, Product Manager
Education / Academy, Learning, College / campuses, libraries, laboratories / 240 / 80000 / Bursar, Estates Manager, Head of Science
Hospitality / Hotels, Kitchens, Resorts / hotels, kitchens, wine cellars / 160 / 90000 / General Manager, Executive Chef, Housekeeping Manager
Agriculture / Farms, Orchards, Seeds, Greenhouses / greenhouses, grain silos, packing sheds / 70 / 160000 / Farm Manager, Agronomist, Packhouse Manager
Water & Waste / Water, Recycling, Environmental / pumping stations, treatment works, sorting halls / 190 / 200000 / Works Manager, Hydrologist, Compliance Officer
Property / Property, Estates, Facilities / buildings, plant rooms, car parks / 60 / 310000 / Building Manager, Facilities Director, Energy Manager
Research / Institute, Research, Analytics / laboratories, archives, test rigs / 80 / 110000 / Principal Investigator, Laboratory Manager, Research Engineer
Arts & Culture / Museum, Archive, Gallery / exhibition halls, storage vaults, archives / 45 / 70000 / Head Conservator, Registrar, Collections Manager
`;

/** The industries. */
export const INDUSTRIES: readonly Industry[] = TABLE.trim().split('\n').map(parseIndustry);

function parseIndustry(line: string): Industry {
  const [name = '', trades = '', sites = '', headcount, revenuePerHead, titles = ''] = line.split(' / ');
  return {
    name,
    trades: trades.split(', '),
    sites: sites.split(', '),
    headcount: Number(headcount),
    revenuePerHead: Number(revenuePerHead),
    titles: titles.split(', '),
  };
}

/** Job titles met in every industry; the first are the likeliest to decide. */
export const TITLES: readonly string[] = [
  'Managing Director',
  'Chief Executive Officer',
  'Chief Operating Officer',
  'Chief Financial Officer',
  'Chief Technology Officer',
  'Owner',
  'Head of Operations',
  'Head of Procurement',
  'Operations Director',
  'IT Manager',
  'Facilities Manager',
  'Procurement Manager',
  'Quality Manager',
  'Finance Manager',
  'Project Manager',
  'Sustainability Manager',
  'Office Manager',
  'Health and Safety Officer',
  'Operations Coordinator',
  'Maintenance Engineer',
  'Data Analyst',
  'Systems Administrator',
  'Buyer',
  'Accounts Assistant',
  'Personal Assistant',
  'Customer Service Lead',
  'Marketing Manager',
  'Human Resources Manager',
];

export interface Offer {
  /** Name of a deal; `{n}` is a number of `{sites}`. */
  readonly deal: string;
  /** What it is called in conversation. */
  readonly spoken: string;
  /** Price in EUR: fixed part, and part per site. */
  readonly base: number;
  readonly perSite: number;
}

/** What the demo organization, a maker of monitoring instruments, sells. */
export const OFFERS: readonly Offer[] = [
  {
    deal: 'Temperature monitoring for {n} {sites}',
    spoken: 'the temperature monitoring',
    base: 1_800,
    perSite: 1_450,
  },
  {
    deal: 'Humidity and air quality, {n} {sites}',
    spoken: 'the air quality sensors',
    base: 2_200,
    perSite: 1_900,
  },
  { deal: 'Energy metering for {n} {sites}', spoken: 'the energy metering', base: 3_500, perSite: 2_750 },
  { deal: 'Leak detection in {n} {sites}', spoken: 'the leak detection', base: 1_200, perSite: 980 },
  { deal: 'Pilot in one of {n} {sites}', spoken: 'the pilot', base: 4_900, perSite: 0 },
  { deal: 'Roll-out to {n} {sites}', spoken: 'the roll-out', base: 9_500, perSite: 3_200 },
  { deal: 'Yearly calibration, {n} {sites}', spoken: 'the calibration contract', base: 900, perSite: 420 },
  { deal: 'Support and licences, {n} {sites}', spoken: 'the support contract', base: 1_500, perSite: 640 },
  {
    deal: 'Replacement of old loggers, {n} {sites}',
    spoken: 'the replacement of the old loggers',
    base: 800,
    perSite: 1_150,
  },
  { deal: 'Audit trail and reporting, {n} {sites}', spoken: 'the audit trail', base: 5_200, perSite: 310 },
];
