"""Who fits whom: people and published rows where cells may overlap."""
