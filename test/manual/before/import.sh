# The page imports a whole account of HubSpot.
cp "$(dirname "${BASH_SOURCE[0]}")"/../../fixtures/import/exports/hubspot-*.csv .
