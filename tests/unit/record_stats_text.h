static const char every_figure[] = "";
